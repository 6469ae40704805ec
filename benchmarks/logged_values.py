"""Fig. 2b: the 80 mean errors that the authors logged, simulated again.

    python benchmarks/logged_values.py --trials 100 --processes 2

Both are means over ridges 0, 1e-4, 1e-2 and over trials with new teacher and subset; z is their difference over the
standard error of both, ours estimated over trials and theirs scaled from it. Values of one fraction are correlated.
The authors' values are in src/subridge/figures/paper/fig2b_logged.json.
"""

import argparse
import json
from importlib.resources import files

import numpy as np

import subridge as sr

LOGGED = json.loads(files("subridge.figures.paper").joinpath("fig2b_logged.json").read_text())


def simulated(fraction, sizes, n_trials, run=None):
    """Mean over ridges of every trial's risk, shape (n_trials, n_sizes).

    Each fraction has its own seed: a teacher that happens to be long would lift all of them alike.
    """
    strategy = sr.subsets.Overlapping((round(fraction * LOGGED["n_features"]),))
    curves = sr.simulate(
        sr.EquicorrelatedProblem(),
        sr.Ensemble(strategy),
        sizes,
        n_trials,
        ridges=LOGGED["ridges"],
        n_features=LOGGED["n_features"],
        redraw=("data", "teacher", "subsets"),
        seed=round(10 * fraction),
        run=run,
        progress=False,
    )
    return curves.risk.mean("ridge").values


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--processes", type=int)
    arguments = parser.parse_args()
    rows = np.array(LOGGED["rows"])
    everything = []
    for fraction in np.unique(rows[:, 1]):
        mine = rows[rows[:, 1] == fraction]
        values = simulated(fraction, mine[:, 0].astype(int), arguments.trials, sr.Run(executor=arguments.processes))
        spread = values.std(axis=0, ddof=1)
        error = spread * np.sqrt(1 / arguments.trials + 1 / LOGGED["n_trials"])
        z = (values.mean(axis=0) - mine[:, 2]) / error
        everything.append(z)
        for (P, _, logged), ours, s, one in zip(mine, values.mean(axis=0), error, z, strict=True):
            print(f"{int(P):5d} {fraction:4.1f}  logged {logged:9.4f}  ours {ours:9.4f}  ± {s:8.4f}  z {one:6.2f}")
    z = np.concatenate(everything)
    print(f"{len(z)} values: largest |z| {np.abs(z).max():.2f}, root mean square {np.sqrt((z**2).mean()):.2f}")


if __name__ == "__main__":
    main()
