"""Plain fits of ridge ensembles along a path of ridges: left-out errors, outputs on other rows, errors there.

No code of forecasts is used. Only the weights of members come from the package, which is given plain left-out errors.
"""

import numpy as np

import subridge as sr

PATH = np.logspace(-4, 5, 37)  # ridges at which truth is measured, in units of a standardised feature
_FEW_ROWS, _LEAST_SHARE = 10, 0.05  # as the estimators judge what the left-out errors of a member are worth


def member_path(F, G, Y, penalties):
    """Left-out errors (L, C, n), outputs on rows G (L, C, m), and the rows that these errors are worth (L,)."""
    n, mean, centre = len(F), Y.mean(axis=0), F.mean(axis=0)
    A, B, y = F - centre, G - centre, Y - mean
    wide = A.shape[1] >= n
    d, V = np.linalg.eigh(A @ A.T if wide else A.T @ A)
    d = np.maximum(d, 0)
    left, across, right = (V * d, (B @ A.T) @ V, V.T @ y) if wide else (A @ V, B @ V, V.T @ (A.T @ y))
    gains = 1 / (d + penalties[:, None])  # (L, r)
    leverages = ((gains * d) @ (V**2).T if wide else gains @ (left**2).T) + 1 / n
    scaled = (gains[:, :, None] * right).transpose(1, 0, 2).reshape(len(d), -1)
    fits, outputs = (
        (part @ scaled).reshape(len(part), len(penalties), y.shape[1]).transpose(1, 2, 0) for part in (left, across)
    )
    errors = (y.T - fits) / np.maximum(1 - leverages, 1e-12)[:, None, :]
    shares = leverages[np.argmin(penalties)] - 1 / n
    few = shares.sum() ** 2 < min(_FEW_ROWS, n / 6) * (shares**2).sum()
    worth = np.zeros(len(penalties)) if few else _worth(d[1:] if wide else d, n, wide, penalties)
    return errors, outputs + mean[:, None], worth


def _worth(d, n, wide, penalties):
    """Rows that left-out errors are worth, n (1 - 2/m) with m = (tr R²)²/tr R⁴; centring takes a direction."""
    p = penalties[:, None]
    squares, untouched = ((d.min() + p if wide else p) / (d + p)) ** 2, 0 if wide else max(n - 1 - len(d), 0)
    m = (squares.sum(axis=1) + untouched) ** 2 / ((squares**2).sum(axis=1) + untouched)
    return np.minimum(np.maximum(1 - 2 / m, _LEAST_SHARE) * n, n - 1)


def paths(table, train, test, subsets):
    """`member_path` of every subset at every ridge of PATH."""
    F, G, Y = table.X[train], table.X[test], table.targets[train]
    return [member_path(F[:, each], G[:, each], Y, PATH * len(each)) for each in subsets]


def left_out_errors(table, rows, subsets):
    """Leave-one-out error of the mean of members at every ridge of PATH; shape (L,)."""
    errors = sum(errors for errors, _, _ in paths(table, rows, rows[:0], subsets)) / len(subsets)
    return (errors**2).sum(axis=1).mean(axis=1)


def mean_errors(table, test, members):
    """Squared error on the test rows of the mean of members, summed over targets; shape (L,)."""
    outputs = sum(outputs for _, outputs, _ in members) / len(members)
    return ((outputs - table.targets[test].T) ** 2).sum(axis=1).mean(axis=1)


def wrong_votes(table, test, members):
    """Share of wrong majority votes (L,); a tie goes to the larger sum of scores."""
    outputs = np.array([outputs for _, outputs, _ in members])
    votes = outputs.argmax(axis=2)
    counts = np.array([(votes == c).sum(axis=0) for c in range(outputs.shape[2])], float)
    sums = outputs.sum(axis=0).transpose(1, 0, 2)
    scale = np.abs(sums).max() + 1
    return ((counts + sums / (10 * scale * len(outputs))).argmax(axis=0) != table.y[test]).mean(axis=1)


def weighted_errors(table, train, test, members, aggregation):
    """Errors of members with fitted weights, as expected from left-out errors and on the test rows; each (L,)."""
    Y, n = table.targets[train], len(train)
    deviations, truth = (Y - Y.mean(axis=0)).T * n / (n - 1), (table.targets[test] - Y.mean(axis=0)).T
    outputs = np.array([outputs - Y.mean(axis=0)[:, None] for _, outputs, _ in members])
    expected, found = np.empty(len(PATH)), np.empty(len(PATH))
    for place in range(len(PATH)):
        errors = np.stack([errors[place] for errors, _, _ in members])
        worth = np.array([worth[place] for _, _, worth in members])
        settled = aggregation.settle(aggregation.moments(errors, deviations, np.ones(n), worth))
        expected[place] = settled.expected.sum()
        found[place] = ((np.tensordot(np.asarray(settled.weights), outputs[:, place], 1) - truth) ** 2).sum(0).mean()
    return expected, found


def tuned_error(table, train, test, ensemble):
    """Error on the test rows of an ensemble whose ridge and weights left-out errors of the training rows choose."""
    plan, aggregation = ensemble.plan, ensemble.aggregation
    members = paths(table, train, test, [plan.measurements[r] for r in range(plan.n_members)])
    if aggregation.fits_weights:
        expected, found = weighted_errors(table, train, test, members, aggregation)
    else:
        errors = sum(errors for errors, _, _ in members) / len(members)
        expected, found = (errors**2).sum(axis=1).mean(axis=1), mean_errors(table, test, members)
    return float(found[len(PATH) - 1 - int(np.argmin(expected[::-1]))])


def at_ridge(values, ridge):
    """Log-linear interpolation of positive values along the path."""
    return float(np.exp(np.interp(np.log(max(ridge, PATH[0])), np.log(PATH), np.log(values))))


def subsets_of(plan):
    return [np.asarray(plan.measurements[r]) for r in range(plan.n_members)]


def plans(M):
    """Subsets of the ensembles that are forecast, by name."""
    drawn = {
        "one ridge": sr.subsets.equal(1, M, seed=0),
        "8 equal": sr.subsets.equal(8, M, seed=0),
        "8 heterogeneous": sr.subsets.dirichlet(8, M, 0.75, seed=0),
    }
    return {label: subsets_of(plan) for label, plan in drawn.items()}
