"""Coverage of intervals at 90 % after all choices, with fitted weights and with few groups.

    python benchmarks/default/intervals.py --draws 200 --jobs 16 --minutes 9 --kept intervals.jsonl

Features are independent, standard normal, all relevant; half of the labels' variance is noise. With groups, features
and noise have a part that rows of a group share (half of their variance), and new rows are of new groups.
"""

import warnings

import numpy as np
from tasks import parser, results

LEVEL, NEW = 0.9, 200
SETTINGS = {  # rows, features, rows of a group
    "30 × 100": (30, 100, 1),
    "50 × 25": (50, 25, 1),
    "100 × 50": (100, 50, 1),
    "100 × 500": (100, 500, 1),
    "10 groups of 5, 25 features": (50, 25, 5),
    "20 groups of 5, 50 features": (100, 50, 5),
    "30 groups of 10, 40 features": (300, 40, 10),
}
PROCEDURES = {
    "fixed ridge": {"n_estimators": 1, "aggregation": "mean", "ridge": 1.0},
    "one ridge": {"n_estimators": 1, "aggregation": "mean"},
    "8 members, scaled": {"n_estimators": 8, "subsets": "equal", "aggregation": "scaled"},
    "8 members, free": {"n_estimators": 8, "subsets": "equal", "aggregation": "free"},
    "default": {},
}


def rows_of(rng, n, M, size, w):
    owners = np.arange(n) // size
    share = 0.5 if size > 1 else 0.0
    mixed = [
        share**0.5 * rng.standard_normal((owners[-1] + 1, m))[owners] + (1 - share) ** 0.5 * rng.standard_normal((n, m))
        for m in (M, 1)
    ]
    return mixed[0], mixed[0] @ w + mixed[1][:, 0], owners if size > 1 else None


def covered(task):
    """Coverage and mean width of every procedure on one draw, shape (procedures, 2)."""
    import subridge as sr

    setting, draw = task
    n, M, size = SETTINGS[setting]
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([draw, n, M])
    w = rng.standard_normal(M)
    w /= np.linalg.norm(w)
    X, y, groups = rows_of(rng, n, M, size, w)
    X_new, y_new, _ = rows_of(rng, NEW * size, M, size, w)
    X_new, y_new = X_new[::size], y_new[::size]
    found = []
    for options in PROCEDURES.values():
        model = sr.RidgeEnsembleRegressor(**options, random_state=draw).fit(X, y, groups=groups)
        lower, upper = model.predict_interval(X_new, LEVEL)
        found.append([float(np.mean((lower <= y_new) & (y_new <= upper))), float(np.mean(upper - lower))])
    return found


if __name__ == "__main__":
    options = parser(draws=200).parse_args()
    tasks, kept = [[setting, draw] for draw in range(options.draws) for setting in SETTINGS], {}
    for (setting, _), found in results(covered, tasks, options):
        kept.setdefault(setting, []).append(found)
    print("| setting | draws | " + " | ".join(PROCEDURES) + " |\n" + "|---" * (len(PROCEDURES) + 2) + "|")
    for setting in SETTINGS:
        shares = np.array(kept.get(setting, np.empty((0, len(PROCEDURES), 2))))[:, :, 0]
        noise = shares.std(axis=0) / max(len(shares), 1) ** 0.5
        cells = [f"{each:.3f} ± {error:.3f}" for each, error in zip(shares.mean(axis=0), noise, strict=True)]
        print(f"| {setting} | {len(shares)} | " + " | ".join(cells) + " |")
