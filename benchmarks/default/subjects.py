"""Thirty subjects with ten rows each: what is reported for new subjects, what they show, and what fixed ridges have.

    python benchmarks/default/subjects.py --draws 200 --jobs 16 --minutes 9 --kept subjects.jsonl

A subject's rows are b + .1 e with b and e standard normal in 40 dimensions; a label is the first feature, plus an
offset of the subject, standard normal, plus .1 noise. Subjects are left out as groups. Their error is exact.
"""

import warnings

import numpy as np
from tasks import parser, results

SUBJECTS, ROWS, M = 30, 10, 40
FIXED = 10.0 ** np.arange(-1, 2.01, 0.25)
PROCEDURES = {
    "default": {},
    "one ridge": {"n_estimators": 1, "aggregation": "mean"},
    "one ridge, scaled": {"n_estimators": 1, "aggregation": "scaled"},
} | {f"one ridge at {ridge:.3g}": {"n_estimators": 1, "aggregation": "mean", "ridge": float(ridge)} for ridge in FIXED}


def fitted(draw):
    """What is reported and what is true for every procedure, shape (procedures, 2), and the ridge of one ridge."""
    import subridge as sr

    warnings.simplefilter("ignore")
    rng = np.random.default_rng([26, draw])
    subject = np.repeat(np.arange(SUBJECTS), ROWS)
    X = rng.standard_normal((SUBJECTS, M))[subject] + 0.1 * rng.standard_normal((SUBJECTS * ROWS, M))
    y = X[:, 0] + rng.standard_normal(SUBJECTS)[subject] + 0.1 * rng.standard_normal(SUBJECTS * ROWS)
    truth, found, chosen = np.eye(M)[0], [], np.nan
    for name, options in PROCEDURES.items():
        model = sr.RidgeEnsembleRegressor(**options, random_state=draw).fit(X, y, groups=subject)
        fresh = 1.01 * ((model.coef_ - truth) ** 2).sum() + model.intercept_**2 + 1 + 0.01
        found.append([model.loo_error_, float(fresh)])
        chosen = float(model.ridge_) if name == "one ridge" else chosen
    return found, chosen


if __name__ == "__main__":
    options = parser(draws=200).parse_args()
    kept = [each for _, each in results(fitted, list(range(options.draws)), options)]
    found, ridges = zip(*kept, strict=True)
    reported, fresh = np.moveaxis(np.array(found), -1, 0)  # each (draws, procedures)
    best = fresh.mean(axis=0)[-len(FIXED) :].min()
    print(f"{len(kept)} draws; the error of the best fixed ridge is {best:.3f}\n")
    print("| procedure | reported / fresh | fresh error | over the best fixed ridge |\n|---|---|---|---|")
    for name, said, true in zip(PROCEDURES, reported.T, fresh.T, strict=True):
        noise = np.std(said / true.mean()) / len(said) ** 0.5
        print(
            f"| {name} | {said.mean() / true.mean():.3f} ± {noise:.3f} | {true.mean():.3f} | {true.mean() / best:.3f} |"
        )
    print(f"\nridges below 1e-3 chosen for one ridge: {np.mean(np.array(ridges) < 1e-3):.1%}")
