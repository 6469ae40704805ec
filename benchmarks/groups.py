"""Leave-group-out in closed form against refitting, in time.

``python benchmarks/groups.py`` fits k = 8 members of M = 2,048 features on n = 2,000 rows in 50 groups at 17 ridges,
all left-out errors included, and compares with two ways to refit: scikit-learn's `Ridge` for every ridge, group and
member, and a decomposition for every group and member that serves all ridges. Refits are timed on a part (``--part``
groups) and scaled to all groups; processor seconds, one thread.
"""

import argparse
import time

import numpy as np
from sklearn.linear_model import Ridge

import subridge as sr
from subridge.ridge.path import member_paths
from subridge.ridge.rows import left_out_groups, training_rows


def seconds(work, repeats=1):
    """Least processor time of some repeats, and what came out."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n-samples", type=int, default=2000)
    parser.add_argument("--n-features", type=int, default=2048)
    parser.add_argument("--n-members", type=int, default=8)
    parser.add_argument("--groups", type=int, default=50)
    parser.add_argument("--ridges", type=int, default=17)
    parser.add_argument("--part", type=int, default=1)
    asked = parser.parse_args()
    n, M, k = asked.n_samples, asked.n_features, asked.n_members
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, M))
    y = X @ rng.standard_normal(M) / np.sqrt(M) + rng.standard_normal(n)
    groups = np.arange(n) % asked.groups
    plan, ridges = sr.subsets.equal(k, M, 0), np.logspace(-3, 5, asked.ridges)

    def closed_form():
        rows = training_rows(X, y[None], None, True, left_out_groups(groups, n))
        return [[path.errors(index)[0] for index in range(len(ridges))] for path in member_paths(rows, plan, ridges)]

    closed, errors = seconds(closed_form, 3)

    def refit(group):
        rest, out = groups != group, groups == group
        found = np.empty((k, len(ridges), out.sum()))
        for r, seen in enumerate(plan.measurements):
            for index, ridge in enumerate(ridges):
                trained = Ridge(ridge * len(seen)).fit(X[rest][:, seen], y[rest])
                found[r, index] = y[out] - trained.predict(X[out][:, seen])
        return found

    def decompose(group):
        rest, out = groups != group, groups == group
        rows = training_rows(X[rest], y[None, rest], None, True)
        found = []
        for r, path in enumerate(member_paths(rows, plan, ridges)):
            seen = plan.measurements[r]
            new = X[out][:, seen] - rows.feature_means[seen]
            found.append([y[out] - path.target_means[0] - new @ path.coefficients(i)[0] for i in range(len(ridges))])
        return np.array(found)

    once, expected = seconds(lambda: [refit(group) for group in range(asked.part)])
    shared, again = seconds(lambda: [decompose(group) for group in range(asked.part)])
    table = np.array(errors)
    worst = max(
        np.abs(table[:, :, groups == g] - expected[g]).max() / np.abs(expected[g]).max() for g in range(asked.part)
    )
    worst_shared = max(np.abs(table[:, :, groups == g] - again[g]).max() for g in range(asked.part))
    scale = asked.groups / asked.part
    print(
        f"n = {n}, M = {M}, k = {k}, {len(ridges)} ridges, {asked.groups} groups; refits timed on {asked.part} group(s)"
    )
    print(f"closed form                      {closed:9.2f} s")
    print(f"Ridge for each ridge and group   {once * scale:9.2f} s  ({once * scale / closed:.0f} times)")
    print(f"one decomposition for each group {shared * scale:9.2f} s  ({shared * scale / closed:.0f} times)")
    print(f"largest relative difference {worst:.1e}, absolute to the second {worst_shared:.1e}")


if __name__ == "__main__":
    main()
