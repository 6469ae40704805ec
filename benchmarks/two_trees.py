"""Two versions of the package against each other, in one run: theory, engine, estimators, forecasts and commands.

    python benchmarks/two_trees.py OLD/src NEW/src [--rounds 7] [--only theory]

Each version lives in a process of its own; the two take turns, and the best of the rounds is kept, because other
programs on the machine only ever add time. Times are those of the processor. Calls are those that both versions
understand. Commands and the import are timed as new processes, with the start of Python in it, which is printed too.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from contextlib import ExitStack


def theory():
    import numpy as np

    import subridge as sr

    M = 2000
    teacher = np.random.default_rng(0).standard_normal(M)
    ridge = np.array([1e-6, 1e-3, 1.0])[:, None, None]
    plan = sr.subsets.overlapping((400, 800, 1200), M, 1)
    alpha = np.linspace(0.05, 1.0, 100)

    def fig1a():
        # A new problem every time: tables of the last ones are kept.
        problem = sr.Problem(
            sr.covariance.autoregressive(M, 0.8), teacher, sr.covariance.autoregressive(M, 0.3, 0.1), 0.1
        )
        return sr.risk(problem, sr.Ensemble(plan, ridge, 0.2), alpha)

    def phase_panel():
        return sr.phase_diagram(np.linspace(0.01, 3, 200), readout_nsr=np.linspace(0, 2, 200), alignment=0.3)

    def closed_form():
        problem = sr.EquicorrelatedProblem(correlation=0.4, feature_noise=0.3, alignment=0.3, label_noise=0.1)
        return sr.risk(problem, sr.Ensemble([0.1, 0.3, 0.5], ridge[:, :, :1], 0.1), np.linspace(0.01, 1, 20_000))

    return {"Prop. 1, Fig. 1a": fig1a, "phase panel, 200 x 200": phase_panel, "Prop. 2, 60,000 points": closed_form}


def engine():
    import numpy as np

    import subridge as sr

    M = 1000
    problem = sr.Problem(
        sr.covariance.autoregressive(M, 0.8), np.random.default_rng(0).standard_normal(M), label_noise=0.1
    )
    ensemble = sr.Ensemble(sr.subsets.overlapping([200, 400, 600], M, seed=0), readout_noise=0.2)
    sizes = np.linspace(50, M, 20).astype(int)

    def curves():
        return sr.simulate(problem, ensemble, sizes, 4, ridges=[1e-6, 1e-3, 1.0], progress=False)

    return {"simulate, M=1000, 4 trials": curves}


def estimators():
    import numpy as np

    import subridge as sr

    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2048))
    y = X @ rng.standard_normal(2048) / 45 + 0.5 * rng.standard_normal(2000)
    labels = (y > 0).astype(int)
    ridges = np.logspace(-1, 3, 8)

    def regressor(k, subsets=None):
        options = {"aggregation": "mean", "ridges": ridges, "random_state": 0}
        given = sr.subsets.equal(k, 2048, 0) if subsets is None else subsets
        return lambda: sr.RidgeEnsembleRegressor(k, subsets=given, **options).fit(X, y)

    def classifier():
        options = {"voting": "majority", "ridges": ridges, "random_state": 0}
        model = sr.RidgeEnsembleClassifier(8, subsets=sr.subsets.equal(8, 2048, 0), **options)
        return model.fit(X, labels).predict_proba(X[:500])

    return {
        "regressor, k=8": regressor(8),
        "regressor, k=32": regressor(32),
        "k=8, beside one ridge": regressor(8, "equal"),  # a number of members is compared with one ridge
        "classifier, k=8": classifier,
    }


def forecasts():
    import numpy as np

    import subridge as sr

    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 400))
    y = X @ rng.standard_normal(400) / 20 + 0.5 * rng.standard_normal(500)
    ensembles = {"one": sr.Ensemble(sr.subsets.Equal(1)), "eight": sr.Ensemble(sr.subsets.Dirichlet(8, 0.75))}

    def forecast():
        return sr.forecast(X, y, [1000, 4000], ensembles, ridges="auto")

    many = {f"{k} members": sr.Ensemble(sr.subsets.Dirichlet(k, 0.75), 0.1) for k in (1, 2, 3, 4, 6, 8, 16, 32)}
    sizes = np.unique(np.geomspace(100, 10_000, 40).astype(int))

    def curves():
        return sr.forecast(X, y, sizes, many)

    def by_groups():
        return sr.forecast(X, y, [1000, 4000], ensembles, ridges="auto", groups=np.arange(500) // 5)

    def advise():
        return sr.advise(X, y, 1000)

    return {
        "forecast, two ensembles": forecast,
        "forecast, 8 at 40 sizes": curves,
        "forecast by groups": by_groups,
        "advise, default candidates": advise,
    }


def commands():
    run = [sys.executable, "-m", "subridge"]
    asked = {
        "start of Python": [sys.executable, "-c", "pass"],
        "import subridge": [sys.executable, "-c", "import subridge"],
        "subridge --help": [*run, "--help"],
        "subridge forecast --help": [*run, "forecast", "--help"],
        "subridge, a wrong flag": [*run, "forecast", "--no-such-flag"],
        "subridge, a missing file": [*run, "forecast", "no-such-file.csv", "--target", "y"],
    }

    def call(command):
        return lambda: subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    return {name: call(command) for name, command in asked.items()}


GROUPS = {"theory": theory, "engine": engine, "estimators": estimators, "forecasts": forecasts, "commands": commands}


def serve(groups):
    """Time the call whose number arrives on standard input."""
    calls = {name: call for group in groups for name, call in GROUPS[group]().items()}
    print(json.dumps(list(calls)), flush=True)
    for line in sys.stdin:
        call = list(calls.values())[int(line)]
        start = seconds_taken()
        call()
        print(seconds_taken() - start, flush=True)


def seconds_taken():
    """Processor time of this process and of those that it has started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", metavar="SRC", help="the old and the new folder `src`")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", choices=GROUPS, action="append")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    groups = options.only or list(GROUPS)
    if options.serve:
        return serve(groups)
    with ExitStack() as ends:  # no worker outlives a run, however that ends
        workers = []
        for tree in options.trees:
            workers.append(ends.enter_context(started(tree, groups)))
            ends.callback(workers[-1].kill)
        compare(workers, options.rounds)
    return None


def started(tree, groups):
    """A process that serves the calls of a version."""
    command = [sys.executable, __file__, "--serve", *(word for group in groups for word in ("--only", group))]
    path = os.pathsep.join([os.path.abspath(tree), os.environ.get("PYTHONPATH", "")])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    # glibc raises these two limits as a process runs, and they decide which arrays take fresh pages. So the time of a
    # call depends on the calls before it: for Prop. 2 the ratio was between .8 and 1.35. Here they are highest.
    fixed = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**26)}
    environment = os.environ | {"PYTHONPATH": path, "PYTHONWARNINGS": "ignore"} | fixed
    return subprocess.Popen(command, env=environment, **pipes)


def compare(workers, rounds):
    *_, names = [json.loads(worker.stdout.readline()) for worker in workers]
    for number, name in enumerate(names):
        best = [float("inf")] * len(workers)
        for turn in range(rounds + 1):
            for place, worker in enumerate(workers):
                worker.stdin.write(f"{number}\n")
                worker.stdin.flush()
                seconds = float(worker.stdout.readline())
                if turn:  # the first round warms up
                    best[place] = min(best[place], seconds)
        print(f"{name:28s} old {best[0]:8.4f} s   new {best[1]:8.4f} s   new/old {best[1] / best[0]:5.2f}", flush=True)


if __name__ == "__main__":
    main()
