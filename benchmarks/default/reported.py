"""The error that is reported after all choices over the error on new rows, which is exact here.

    python benchmarks/default/reported.py --draws 200 --jobs 16 --minutes 9 --kept reported.jsonl

All cells of all procedures get as many draws, five at a time. What is kept is not run again, so that `--minutes 0`
reports. `--rows 20` takes the cells of twenty rows alone, which need more draws: there one draw in some dozens chooses
a ridge that errs many times as much.

Features are independent, standard normal; labels are X @ w + noise with a share R² of signal and all features relevant.
A cell is one (n, p/n, R²): the mean of what `loo_error_` says over draws, over the mean of what new rows would show.
Groups are five rows in a row that share nothing: whole groups are left out, so members then have seen five rows fewer.
What is reported goes up and down with the luck of the labels. The mean square of the noise and the variance of the
labels have known expectations, and what they explain of the reported error by linear regression is taken away.
"""

import itertools
import warnings

import numpy as np
from tasks import parser, results

STEP = 5  # draws of a task
CELLS = list(itertools.product((20, 50, 100), (0.5, 1.0, 5.0), (0.0, 0.5)))
PROCEDURES = {
    "default": {},
    "default, groups": {"groups": True},
    "fixed ridge 1, k = 1": {"n_estimators": 1, "aggregation": "mean", "ridge": 1.0},
    "fixed ridge 1, k = 1, groups": {"n_estimators": 1, "aggregation": "mean", "ridge": 1.0, "groups": True},
    "mean, k = 1": {"n_estimators": 1, "aggregation": "mean"},
    "scaled, k = 1": {"n_estimators": 1, "aggregation": "scaled"},
    "simplex, k = 1": {"n_estimators": 1, "aggregation": "simplex"},
    "free, k = 1": {"n_estimators": 1, "aggregation": "free"},
    "mean, k = 1, groups": {"n_estimators": 1, "aggregation": "mean", "groups": True},
    "scaled, k = 1, groups": {"n_estimators": 1, "aggregation": "scaled", "groups": True},
    "free, k = 1, groups": {"n_estimators": 1, "aggregation": "free", "groups": True},
    "mean, common, k = 8": {"aggregation": "mean"},
    "mean, own, k = 8": {"aggregation": "mean", "ridge_scope": "member"},
    "mean, joint, k = 8": {"aggregation": "mean", "ridge_scope": "joint"},
    "median, common, k = 8": {"aggregation": "median"},
    "scaled, common, k = 8": {"aggregation": "scaled"},
    "simplex, common, k = 8": {"aggregation": "simplex"},
    "free, common, k = 8": {"aggregation": "free"},
    "free, own, k = 8": {"aggregation": "free", "ridge_scope": "member"},
    "free, joint, k = 8": {"aggregation": "free", "ridge_scope": "joint"},
    "mean, k = 8, groups": {"aggregation": "mean", "groups": True},
    "scaled, k = 8, groups": {"aggregation": "scaled", "groups": True},
    "free, k = 8, groups": {"aggregation": "free", "groups": True},
}


def fitted(task):
    """What is reported, what is true, and two numbers of mean zero, for every draw of one cell and procedure."""
    import subridge as sr

    (n, ratio, share), name, first, last = task
    warnings.simplefilter("ignore")
    options = dict(PROCEDURES[name])
    groups = np.arange(n) // 5 if options.pop("groups", False) else None
    found = []
    for draw in range(first, last):
        rng = np.random.default_rng([draw, n, int(10 * ratio), int(10 * share)])
        M = int(n * ratio)
        w = rng.standard_normal(M)
        w *= np.sqrt(share / (1 - share)) / np.linalg.norm(w)
        X = rng.standard_normal((n, M))
        noise = rng.standard_normal(n)
        y = X @ w + noise
        luck = np.mean(noise**2) - 1, np.var(y, ddof=1) - 1 / (1 - share)
        if name.startswith("default") or "k = 1" in name:
            model = sr.RidgeEnsembleRegressor(**options, random_state=draw)
        else:
            model = sr.RidgeEnsembleRegressor(subsets=sr.subsets.equal(8, M, seed=draw), **options)
        model.fit(X, y, groups=groups)
        if name.startswith("median"):
            Z = rng.standard_normal((20_000, M))
            fresh = 1 + np.mean((Z @ w - model.predict(Z)) ** 2)
        else:
            fresh = 1 + ((model.coef_ - w) ** 2).sum() + model.intercept_**2
        found.append([model.loo_error_, float(fresh), *map(float, luck)])
    return found


def ratio_of(found):
    """Reported over true error and its standard error, less the luck of the labels."""
    reported, fresh, luck = found[:, 0] / found[:, 1].mean(), found[:, 1], found[:, 2:]
    slopes = np.linalg.lstsq(luck - luck.mean(axis=0), reported - reported.mean(), rcond=None)[0]
    steady = reported - luck @ slopes - (fresh / fresh.mean() - 1)
    return steady.mean(), np.std(steady, ddof=3) / len(steady) ** 0.5


if __name__ == "__main__":
    options = parser(draws=200)
    options.add_argument("--only", nargs="+", choices=list(PROCEDURES), default=list(PROCEDURES))
    options.add_argument("--rows", nargs="+", type=int, default=[20, 50, 100], help="only cells of so many rows")
    options.add_argument("--cells", action="store_true", help="print every cell as well")
    options = options.parse_args()
    asked = [cell for cell in CELLS if cell[0] in options.rows]
    tasks = [
        [list(cell), name, first, min(first + STEP, options.draws)]
        for first in range(0, options.draws, STEP)
        for name in options.only
        for cell in asked
    ]
    kept = {}
    for (cell, name, *_), found in results(fitted, tasks, options):
        kept.setdefault(name, {}).setdefault(tuple(cell), []).extend(found)
    print(
        "| chosen | draws | geometric mean | least cell (n, p/n, R²) | largest cell | cells beyond 7 % |\n"
        + "|---" * 6
        + "|"
    )
    for name in options.only:
        cells = {cell: np.array(found) for cell, found in kept.get(name, {}).items() if len(found) > STEP}
        if len(cells) < len(asked):
            continue
        ratios, noise = np.array([ratio_of(cells[cell]) for cell in asked]).T
        ends = " | ".join(
            f"{ratios[at]:.3f} ± {noise[at]:.3f} ({', '.join(f'{each:g}' for each in asked[at])})"
            for at in (ratios.argmin(), ratios.argmax())
        )
        mean, sure = np.exp(np.log(ratios).mean()), np.sqrt((noise**2).sum()) / len(asked)
        beyond, draws = int((abs(ratios - 1) > 0.07).sum()), sorted({len(found) for found in cells.values()})
        words = "–".join(str(each) for each in dict.fromkeys((draws[0], draws[-1])))
        print(f"| {name} | {words} | {mean:.3f} ± {sure:.3f} | {ends} | {beyond} |")
        if options.cells:
            for cell, each, error in zip(asked, ratios, noise, strict=True):
                print(f"    {cell}: {each:.3f} ± {error:.3f}")
