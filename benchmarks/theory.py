"""Cost of the theory: Prop. 1 on the grid of Fig. 1a, one phase-diagram panel, and how both grow.

    python benchmarks/theory.py [--out DIR]

Every ratio is taken inside one run. Operations that must be done for Fig. 1a (N = 400, 800, 1200; G = 300 points):
eigendecompositions about 9 Σ N³ = 21 GFLOP, the three rotated cross blocks 2 Σ N_r N_s (N_r + N_s) = 11 GFLOP, grid
2·2 G Σ N_r N_s = 2 GFLOP: with products at the measured matrix rate and eigendecompositions at their own measured
speed, the floor is printed beside the time taken.
"""

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np

import subridge as sr
from subridge.theory.prop1 import tabulate

SIZES = (400, 800, 1200)


def fig1a(M=2000, sizes=SIZES):
    problem = sr.Problem(
        sr.covariance.autoregressive(M, 0.8),
        np.random.default_rng(0).standard_normal(M),
        sr.covariance.autoregressive(M, 0.3, 0.1),
        0.1,
    )
    ridge = np.array([1e-6, 1e-3, 1.0])[:, None, None]
    return problem, sr.Ensemble(sr.subsets.overlapping(sizes, M, 1), ridge, 0.2)


def timed(call, repeat=1):
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        value = call()
        best = min(best, time.perf_counter() - start)
    return best, value


def with_inverses(problem, ensemble, alpha, lam, tolerance):
    """One grid point as the printed formulas suggest: iterate q̂ with a matrix inverse, then traces of products."""
    plan, M = ensemble.plan, problem.n_features
    Sigma_s = problem.signal_covariance.dense()
    Sigma = Sigma_s + problem.noise_covariance.dense()
    nu, k = plan.subset_sizes / M, plan.n_members
    index = plan.measurements
    R, iterations = [], 0
    for r in range(k):
        own = Sigma[np.ix_(index[r], index[r])] / nu[r]
        q_hat = 1.0
        while True:
            iterations += 1
            inverse = np.linalg.inv(np.eye(len(own)) + q_hat * own)
            update = alpha / (lam + np.sum(inverse * own) / M)
            if abs(update - q_hat) <= tolerance * abs(update):
                break
            q_hat = update
        R.append(q_hat * inverse)
    v = Sigma_s @ problem.teacher_weights
    pairs = np.empty((k, k))
    for r in range(k):
        for s in range(k):
            block = Sigma[np.ix_(index[r], index[s])] / np.sqrt(nu[r] * nu[s])
            gamma = np.sum((R[r] @ block) * (block @ R[s])) / (alpha * M)
            u_r, u_s = R[r] @ v[index[r]] / np.sqrt(nu[r]), R[s] @ v[index[s]] / np.sqrt(nu[s])
            bias = problem.teacher_weights @ v - u_r @ v[index[r]] / np.sqrt(nu[r])
            bias += u_r @ block @ u_s - u_s @ v[index[s]] / np.sqrt(nu[s])
            pairs[r, s] = (bias / M + gamma * 0.01 + (r == s) * 0.04) / (1 - gamma)
    return pairs, iterations


def benchmark_fig1a():
    alpha = np.linspace(0.05, 1.0, 100)
    problem, ensemble = fig1a()
    seconds, risk = timed(lambda: (tabulate.cache_clear(), sr.risk(problem, ensemble, alpha))[1], repeat=3)
    X = np.random.default_rng(0).standard_normal((2000, 2000))
    matrix_rate = 2 * 2000**3 / timed(lambda: X @ X, repeat=3)[0]
    eigh = sum(timed(lambda N=N: np.linalg.eigh(np.cov(X[:N])), repeat=1)[0] for N in SIZES)
    products = 2 * sum(a * b * (a + b) for a, b in ((400, 800), (400, 1200), (800, 1200)))
    floor = eigh + (products + 4 * 300 * (400 * 800 + 400 * 1200 + 800 * 1200)) / matrix_rate
    points, slow, iterations, gap = [(0, 30), (1, 55), (2, 80)], 0.0, 0, 0.0
    for i, j in points:
        took, (pairs, count) = timed(
            lambda i=i, j=j: with_inverses(problem, ensemble, alpha[j], float(ensemble.ridge[i, 0, 0]), 1e-12)
        )
        slow, iterations = slow + took, iterations + count
        gap = max(gap, float(np.abs(pairs / risk.pairs[i, j] - 1).max()))
    return {
        "seconds, 100 α × 3 λ, eigendecompositions included": seconds,
        "floor, seconds (eigendecompositions as measured + products at the matrix rate)": floor,
        "matrix rate, GFLOP/s": matrix_rate / 1e9,
        "seconds with inverses, scaled from 3 of 300 points": slow * 100,
        "inverses per point": iterations / 3,
        "largest relative difference of E_rr′ at those points": gap,
        "ratio": slow * 100 / seconds,
    }


def benchmark_phase_panel():
    alpha, H = np.linspace(0, 3, 301), np.linspace(0, 2.1, 211)
    sr.phase_diagram(alpha[:2], 0.3, H[:2])  # imports out of the way
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    exact = {
        ridge: timed(lambda ridge=ridge: sr.phase_diagram(alpha, 0.3, H, ridge=ridge), 3)[0] for ridge in (0, "optimal")
    }
    k = np.append(np.arange(1.0, 101.0), np.inf)

    def scan():
        """All 101 ensemble sizes, one at a time against the running best: no array of 6.4 million is ever held."""
        best, lowest = np.ones((211, 301)), np.full((211, 301), np.inf)
        for size in k:
            error = sr.reduced_risk(size, alpha, 0.3, 0.0, H[:, None], 0.0, 0.0)
            better = error < lowest - 1e-10
            best, lowest = np.where(better, size, best), np.where(better, error, lowest)
        return best

    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.errors.InfiniteRiskWarning)
        scanned, table = timed(scan, 3)
        one_row, _ = timed(
            lambda: [[sr.reduced_risk(size, a, 0.3, 0.0, 0.5, 0.0, 0.0) for size in k] for a in alpha[:5]]
        )
    found = sr.phase_diagram(alpha, 0.3, H).optimal_n_members.values
    return {
        "seconds, λ = 0, exact for every k": exact[0],
        "seconds, λ*, exact for every k": exact["optimal"],
        "seconds, scan of 101 sizes": scanned,
        "seconds, the same scan point by point in Python, scaled from 5 of 63,511 points": one_row / 5 * 301 * 211,
        "points where the scan up to 100 says ∞ and the best size is finite": int(
            (np.isinf(table) & np.isfinite(found)).sum()
        ),
        "memory of the process after all of it, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "of which added here, MB": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024,
    }


def benchmark_growth():
    alpha = np.linspace(0.05, 1.0, 100)
    by_size = {}
    for M in (250, 500, 1000, 2000):
        problem, ensemble = fig1a(M, [M // 5, 2 * M // 5, 3 * M // 5])
        by_size[M] = timed(lambda p=problem, e=ensemble: (tabulate.cache_clear(), sr.risk(p, e, alpha)))[0]
    by_points, (problem, ensemble) = {}, fig1a(1000, [200, 400, 600])
    for n in (10, 100, 1000, 4000):
        grid = np.linspace(0.05, 1.0, n)
        by_points[3 * n] = timed(lambda g=grid: (tabulate.cache_clear(), sr.risk(problem, ensemble, g)))[0]
    spiked = {}
    for M in (1000, 10_000, 100_000):
        closed = sr.EquicorrelatedProblem(1.0, 0.4, 0.3, 0.3, 0.1).realise(M, 0)
        members = sr.Ensemble(sr.subsets.equal(3, M, 0), 1e-3, 0.1)
        spiked[M] = timed(lambda p=closed, e=members: sr.risk(p, e, alpha))[0]
    return {"M, autoregressive": by_size, "grid points, M = 1000": by_points, "M, equicorrelated": spiked}


def draw(growth, path):
    from matplotlib.figure import Figure

    from subridge.figures.drawing.style import COLUMN, journal

    with journal():
        figure = Figure(figsize=(2 * COLUMN, 2.4))
        for axes, (title, times) in zip(figure.subplots(1, 3), growth.items(), strict=True):
            axes.loglog(list(times), list(times.values()), "o-")
            axes.set_xticks(list(times), [f"{n:,}" for n in times])
            axes.minorticks_off()
            axes.tick_params(axis="x", rotation=30)
            axes.set(title=title, xlabel=title.split(",")[0], ylabel="seconds")
        figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    results = {"Prop. 1, Fig. 1a": benchmark_fig1a(), "phase-diagram panel, 301 α × 211 H": benchmark_phase_panel()}
    for name, table in results.items():
        print(name)
        for row, value in table.items():
            print(f"  {value:12.4g}  {row}")
    results["growth, seconds"] = benchmark_growth()
    print(json.dumps(results["growth, seconds"], indent=1, ensure_ascii=False))
    (out / "theory.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    draw(results["growth, seconds"], out / "theory.png")


if __name__ == "__main__":
    main()
