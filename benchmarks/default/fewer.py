"""What is reported with groups, beside the error on new rows of fits with all groups and of fits with one group fewer.

    python benchmarks/default/fewer.py --draws 60 --jobs 16 --minutes 9 --kept fewer.jsonl

Cells and groups of five are those of `reported.py`, with one ridge from a given path. A fit without each group chooses
again; its errors on that group are compared with what is reported, which should be the same.
"""

import warnings

import numpy as np
from reported import CELLS, ratio_of
from tasks import parser, results


def fitted(task):
    """Reported, fresh with all groups and with one fewer, two numbers of mean zero, refits over reported."""
    import subridge as sr

    (n, ratio, share), draw = task
    warnings.simplefilter("ignore")
    rng, M, groups = (
        np.random.default_rng([draw, n, int(10 * ratio), int(10 * share)]),
        int(n * ratio),
        np.arange(n) // 5,
    )
    w = rng.standard_normal(M)
    w *= np.sqrt(share / (1 - share)) / np.linalg.norm(w)
    X, noise = rng.standard_normal((n, M)), rng.standard_normal(n)
    y, left_out, fewer = X @ w + noise, np.empty(n), []

    def fit(kept):
        model = sr.RidgeEnsembleRegressor(1, aggregation="mean", ridges=np.logspace(-3, 5, 17))
        model.fit(X[kept], y[kept], groups=groups[kept])
        return model, 1 + ((model.coef_ - w) ** 2).sum() + model.intercept_**2

    whole, fresh = fit(groups >= 0)
    for group in range(n // 5):
        model, error = fit(groups != group)
        fewer.append(error)
        left_out[groups == group] = model.predict(X[groups == group])
    luck = np.mean(noise**2) - 1, np.var(y, ddof=1) - 1 / (1 - share)
    refits = np.mean((y - left_out) ** 2) / whole.loo_error_
    return [float(each) for each in (whole.loo_error_, fresh, np.mean(fewer), *luck, refits)]


if __name__ == "__main__":
    options, kept = parser(draws=60).parse_args(), {}
    tasks = [[list(cell), 1000 + draw] for draw in range(options.draws) for cell in CELLS]
    for (cell, _), found in results(fitted, tasks, options):
        kept.setdefault(tuple(cell), []).append(found)
    print("| n, p/n, R² | draws | reported / fresh | / fresh with a group fewer | that over fresh | refits agree |")
    print("|---" * 6 + "|")
    for cell, found in sorted(kept.items()):
        table = np.array(found)
        ratios = " | ".join("{:.3f} ± {:.3f}".format(*ratio_of(table[:, [0, at, 3, 4]])) for at in (1, 2))
        same, growth = np.mean(abs(table[:, 5] - 1) < 1e-6), table[:, 2].mean() / table[:, 1].mean()
        print(f"| {', '.join(f'{each:g}' for each in cell)} | {len(table)} | {ratios} | {growth:.3f} | {same:.0%} |")
