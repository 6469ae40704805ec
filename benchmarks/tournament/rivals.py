"""What a careful person does without this package: laws through exact leave-one-out errors of sub-samples."""

import numpy as np
from scipy.optimize import least_squares

SHARES = (0.125, 0.25, 0.375, 0.5, 0.75)
DRAWS = 4


def _pow2(m, a, b):
    return np.exp(a) * m ** -np.exp(b)


def _pow3(m, a, b, c):
    return np.exp(c) + np.exp(a) * m ** -np.exp(b)


def _pow4(m, a, b, c, d):
    return np.exp(c) + np.exp(a) * (m + np.exp(d)) ** -np.exp(b)


def _mmf4(m, a, b, c, d):
    share = m ** np.exp(d)
    return (np.exp(a) * np.exp(b) + np.exp(c) * share) / (np.exp(b) + share)


def _wbl4(m, a, b, c, d):
    return np.exp(c) + np.exp(a) * np.exp(-np.exp(b) * m ** np.exp(d))


def _exp3(m, a, b, c):
    return np.exp(c) + np.exp(a) * np.exp(-np.exp(b) * m)


# Every law with its starts, for sizes in units of n and errors in units of the last.
LAWS = {
    "POW2": (_pow2, [(0.0, -1.0), (0.0, 0.0)]),
    "POW3": (_pow3, [(-1.0, -0.5, -0.5), (-1.0, 0.0, -1.5)]),
    "POW4": (_pow4, [(-1.0, -0.5, -0.5, -2.0), (-1.0, 0.0, -1.5, -1.0)]),
    "MMF4": (_mmf4, [(0.5, -1.0, -0.5, 0.0), (1.0, 0.0, -1.5, 0.5)]),
    "WBL4": (_wbl4, [(0.0, 0.0, -0.5, 0.0), (0.5, 1.0, -0.2, -0.5)]),
    "EXP3": (_exp3, [(0.0, 0.0, -0.5), (0.0, 1.0, -0.2)]),
}


def fit(law, sizes, errors, wanted):
    """A law through errors at sizes, in units of the last of each; its values at wanted sizes."""
    curve, starts = LAWS[law]
    m, logs = sizes / sizes[-1], np.log(errors / errors[-1])
    weights = np.sqrt(m)  # larger samples have more rows to judge by

    def misfit(parameters):
        with np.errstate(all="ignore"):
            values = np.log(curve(m, *np.clip(parameters, -30, 8)))
        return np.nan_to_num(weights * (values - logs), nan=1e3, posinf=1e3, neginf=-1e3)

    best = min((least_squares(misfit, start, max_nfev=200) for start in starts), key=lambda found: found.cost)
    with np.errstate(all="ignore"):
        values = curve(np.asarray(wanted) / sizes[-1], *np.clip(best.x, -30, 8)) * errors[-1]
    return np.where(np.isfinite(values), values, errors[-1])


def forecasts(sizes, errors, wanted):
    """Every rival's errors at wanted sizes, by name."""
    found = {law: fit(law, sizes, errors, wanted) for law in LAWS}
    laws = np.array(list(found.values()))
    known = sizes < sizes[-1]
    misses = [abs(np.log(fit(law, sizes[known], errors[known], sizes[-1:])[0] / errors[-1])) for law in LAWS]
    found["median of laws"] = np.median(laws, axis=0)
    found["selected law"] = laws[int(np.argmin(misses))]
    found["last value"] = np.full(len(wanted), errors[-1])
    return found
