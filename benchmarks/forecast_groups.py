"""Forecasts by groups against what happened: drawn subjects, and wages of persons over eight years.

``python benchmarks/forecast_groups.py [--draws 20]`` forecasts the error on new groups from a pilot of some groups and
compares with ensembles trained on more groups and judged on others; beside it the forecast that takes rows for
independent. Wages come with the package linearmodels (extra ``bench``). One core, two minutes.
"""

import argparse
import warnings

import numpy as np

import subridge as sr


def drawn(rng, shared, M=30, G=460, m=6):
    """Subjects whose features share a part of their variance, with an effect of the subject on the label."""
    groups = np.repeat(np.arange(G), m)
    X = np.sqrt(shared) * rng.standard_normal((G, M))[groups] + np.sqrt(1 - shared) * rng.standard_normal((G * m, M))
    y = X @ rng.standard_normal(M) / np.sqrt(M) + rng.standard_normal(G)[groups] + 0.5 * rng.standard_normal(G * m)
    return X, y, groups


def wages():
    """Log wages of 545 persons in eight years, with products of the regressors so that there is something to learn."""
    from linearmodels.datasets import wage_panel

    table = wage_panel.load()
    names = ["black", "exper", "hisp", "hours", "married", "educ", "union", "expersq", "occupation", "year"]
    base = table[names].to_numpy(dtype=float)
    base = np.hstack([base[:, :8], *(base[:, [8]] == value for value in range(1, 9))]).astype(float)
    base = (base - base.mean(axis=0)) / base.std(axis=0)
    first, second = np.triu_indices(base.shape[1])
    X = np.hstack([base, base[:, first] * base[:, second]])
    X = X[:, X.std(axis=0) > 1e-9]
    return X / X.std(axis=0), table["lwage"].to_numpy(), table["nr"].to_numpy()


def trial(X, y, groups, pilot_groups, target_groups, rng):
    """Forecasts by groups and by rows from a pilot, and what an ensemble of the target size errs on other groups."""
    labels = rng.permutation(np.unique(groups))
    pilot = np.isin(groups, labels[:pilot_groups])
    train = np.isin(groups, labels[:target_groups])
    test = np.isin(groups, labels[max(target_groups, pilot_groups) :])
    ensemble = {"four": sr.Ensemble(sr.subsets.equal(4, X.shape[1], 0), 1.0, aggregation="simplex")}
    size = int(train.sum())
    by_group = sr.forecast(X[pilot], y[pilot], [size], ensemble, groups=groups[pilot], label_noise=False)
    by_row = sr.forecast(X[pilot], y[pilot], [size], ensemble, label_noise=False)
    model = sr.RidgeEnsembleRegressor(subsets=ensemble["four"].plan, ridge=1.0, aggregation="simplex")
    model.fit(X[train], y[train], groups=groups[train])
    truth = ((y[test] - model.predict(X[test])) ** 2).mean()
    bounds = by_group.prediction_error_lower.item(), by_group.prediction_error_upper.item()
    effective = by_group.effective_samples.item() / pilot.sum()
    return by_group.prediction_error.item(), by_row.prediction_error.item(), truth, *bounds, effective


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--only", default="", help="part of the name of the data")
    asked = parser.parse_args()
    draws = asked.draws
    warnings.simplefilter("ignore", sr.errors.SubridgeWarning)
    sources = {f"drawn, {shared:.0%} of features shared": shared for shared in (0.0, 0.5, 0.9, 1.0)}
    print("data | groups | true error | by groups | by rows | within interval | effective share of rows")
    for name in [each for each in (*sources, "wages") if asked.only in each]:
        for pilot_groups, target_groups in ((60, 30), (60, 60), (60, 240)):
            found = []
            for seed in range(draws):
                rng = np.random.default_rng(seed)
                data = drawn(rng, sources[name]) if name in sources else wages()
                found.append(trial(*data, pilot_groups, target_groups, rng))
            group, row, truth, lower, upper, effective = np.array(found).T
            inside = ((lower <= truth.mean()) & (truth.mean() <= upper)).mean()
            print(
                f"{name} | {pilot_groups} → {target_groups} | {truth.mean():.3f} | {group.mean() / truth.mean():.3f} | "
                f"{row.mean() / truth.mean():.3f} | {inside:.0%} | {effective.mean():.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
