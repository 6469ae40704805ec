"""Cost against size of what theory answers beyond the paper: sources of the error, derivatives, the best split.

    python benchmarks/questions.py

Processor seconds of one thread (set OMP_NUM_THREADS=1), the least of three.
"""

import time

import numpy as np

import subridge as sr

RATIOS = np.linspace(0.05, 2, 100)


def seconds(call) -> float:
    taken = []
    for _ in range(3):
        begun = time.process_time()
        call()
        taken.append(time.process_time() - begun)
    return min(taken)


def main() -> None:
    problem = sr.EquicorrelatedProblem(correlation=0.5, label_noise=0.3, feature_noise=0.1)
    print("members k:      sources   derivatives   best split      (equicorrelated, 100 sample ratios)")
    for k in (2, 4, 8, 16):
        ensemble = sr.Ensemble([1 / k] * k, ridge=0.01)
        times = (
            seconds(lambda ensemble=ensemble: sr.error_sources(problem, ensemble, RATIOS)),
            seconds(lambda ensemble=ensemble: sr.risk_gradient(problem, ensemble, RATIOS)),
            seconds(lambda k=k: sr.best_split(problem, k, (0.1, 1.0))),
        )
        print(f"{k:10} {times[0]:12.4f} {times[1]:13.4f} {times[2]:12.2f}")
    print("features M:     sources of 4 members, 8 draws     one power law, no matrix, 100 sample ratios")
    for M in (100, 200, 400, 800):
        general = sr.Problem(sr.covariance.autoregressive(M, 0.8), np.ones(M), label_noise=0.3)
        drawn = sr.Ensemble(sr.subsets.Equal(4), ridge=0.01)
        wide = sr.Problem(sr.covariance.power_law(100 * M, 1.5), np.ones(100 * M))
        one = sr.Ensemble(sr.subsets.equal(1, 100 * M, seed=0), ridge=1e-4)
        times = (
            seconds(lambda general=general, drawn=drawn: sr.error_sources(general, drawn, RATIOS)),
            seconds(lambda wide=wide, one=one: sr.risk(wide, one, RATIOS)),
        )
        print(f"{M:10} {times[0]:12.3f} {f'M = {100 * M:,}':>28} {times[1]:10.3f}")


if __name__ == "__main__":
    main()
