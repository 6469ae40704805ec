"""Random Prop. 1 and Prop. 2 problems chosen to hurt: exact doubles in, nothing of the package used."""

from dataclasses import dataclass, field

import numpy as np

KINDS = (
    "ordinary",
    "graded",
    "rotated",
    "threshold",
    "twins",
    "quiet",
    "matrices",
    "negative",
    "ridges",
    "ratios",
    "mixed",
)


@dataclass
class Case:
    """One point of Prop. 1."""

    kind: str
    signal: np.ndarray
    noise: np.ndarray | None
    teacher: np.ndarray
    measurements: list
    alpha: float
    ridges: np.ndarray
    readout: np.ndarray
    label_noise: float
    traits: tuple = field(default=())


def hostile_case(rng: np.random.Generator, kind: str | None = None) -> Case:
    """A random case of the given kind, or of a random one."""
    kind = str(rng.choice(KINDS)) if kind is None else kind
    traits = {kind}
    if kind == "mixed":
        traits = {t for t in KINDS[1:-1] if rng.random() < 0.35}
    M = int(rng.integers(4, 21))
    k = int(rng.integers(1, 4))
    correlation = _correlation(rng, M)
    deviations = np.ones(M)
    if "graded" in traits:
        spread = rng.uniform(1, 8)
        deviations = 10 ** rng.uniform(-spread, spread, M)
    signal = correlation * np.outer(deviations, deviations)
    if "rotated" in traits:
        values = np.exp(-np.log(10) * rng.uniform(3, 12) * (np.arange(M) / (M - 1)) ** rng.uniform(0.5, 1))
        Q = np.linalg.qr(rng.standard_normal((M, M)))[0]
        if "graded" in traits:
            Q = Q * 1.0
        signal = (Q * values) @ Q.T * np.outer(deviations, deviations)
    signal = (signal + signal.T) / 2
    teacher = rng.standard_normal(M)
    if "graded" in traits and rng.random() < 0.7:
        teacher = teacher / deviations
    if rng.random() < 0.15:
        teacher = teacher * (rng.random(M) < 0.3)
        teacher[rng.integers(M)] = 1.0
    noise = None
    if rng.random() < 0.4:
        level = 10 ** rng.uniform(-2, 0.5) if "quiet" not in traits else 10 ** rng.uniform(-16, -2)
        noise = np.diag(level * (deviations**2 if rng.random() < 0.5 or "graded" in traits else np.ones(M)))
    measurements = _members(rng, M, k, traits)
    N = np.array([len(m) for m in measurements])
    alpha = float(rng.uniform(0.05, 2.5))
    if "threshold" in traits:
        alpha = float(rng.choice(N) / M * (1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-13, -1)))
    if "ratios" in traits:
        alpha = float(10 ** rng.uniform(-8, 8))
    size = float(np.exp(np.mean(np.log(np.diag(signal)))))
    if "matrices" in traits:
        size = float(np.median([np.mean(np.diag(_dense(m, M) @ signal @ _dense(m, M).T)) for m in measurements]))
        size = size if size > 0 else 1.0
    ridges = size * 10 ** rng.uniform(-3, 1.5, k)
    if "ridges" in traits or "quiet" in traits:
        ridges = size * 10 ** rng.uniform(-20, 12 if "ridges" in traits else -2, k)
    ridges = np.where(rng.random(k) < (0.7 if "threshold" in traits else 0.35), 0.0, ridges)
    if rng.random() < 0.5:
        ridges = np.full(k, ridges[0])
    if "negative" in traits:
        ridges = _negative(rng, signal if noise is None else signal + noise, measurements, alpha, M, ridges)
    readout = np.where(rng.random(k) < 0.6, 0.0, 10 ** rng.uniform(-2, 0.3, k))
    label = 0.0 if rng.random() < 0.5 else float(10 ** rng.uniform(-2, 0.3))
    power = np.sqrt(abs(teacher @ signal @ teacher) / M)
    if "quiet" in traits:
        readout, label = readout * 10 ** rng.uniform(-12, -2), label * 10 ** rng.uniform(-12, -2)
        if rng.random() < 0.5:
            readout, label = readout * 0, 0.0
    return Case(
        kind, signal, noise, teacher, measurements, alpha, ridges, readout * power, label * power, tuple(sorted(traits))
    )


def structured_case(rng: np.random.Generator) -> tuple[Case, np.ndarray]:
    """A case of features on subsets, whose signal is its variances (M,), and the factor (M, f) of spikes beside them.

    f = 0 is a diagonal covariance, whose variances may differ; with spikes they are equal.
    """
    case = hostile_case(rng, str(rng.choice(["graded", "threshold", "twins", "quiet", "negative", "ridges", "ratios"])))
    M = int(rng.integers(9, 25))
    rank = int(rng.integers(0, 4))
    k = len(case.ridges)
    low = max(1, 2 * rank + 1)
    measurements = [np.sort(rng.choice(M, int(rng.integers(low, M + 1)), replace=False)) for _ in range(k)]
    if k > 1 and rng.random() < 0.3:
        measurements[1] = measurements[0].copy()
    variances = 10 ** rng.uniform(-8, 8, M) if rank == 0 else np.full(M, 10 ** rng.uniform(-6, 2))
    factor = rng.standard_normal((M, rank)) * 10 ** rng.uniform(-2, 4, rank)
    noise = None if rng.random() < 0.5 else np.diag(np.full(M, 10 ** rng.uniform(-6, 2)))
    alpha = case.alpha
    if rng.random() < 0.4:
        N = len(measurements[0])
        alpha = float(N / M * (1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-13, -1)))
    ridges = np.exp(np.mean(np.log(variances))) * 10 ** rng.uniform(-12, 6, k)
    ridges = np.where(rng.random(k) < 0.4, 0.0, ridges)
    teacher = rng.standard_normal(M) / (np.sqrt(variances) if rng.random() < 0.5 else 1.0)
    power = np.sqrt((variances @ teacher**2 + np.sum((factor.T @ teacher) ** 2)) / M)
    readout, label = (power * 10 ** rng.uniform(-9, 0.3, n) * (rng.random(n) < 0.5) for n in (k, 1))
    kind = "spiked" if rank else "diagonal"
    return Case(kind, variances, noise, teacher, measurements, alpha, ridges, readout, float(label[0])), factor


def singular_case(rng: np.random.Generator) -> Case:
    """A ridgeless case whose covariance of integers, and of integers times powers of two, is exactly singular."""
    M = int(rng.integers(6, 14))
    B = rng.integers(-9, 10, (M, 2)).astype(float)
    F = rng.integers(-3, 4, (M, int(rng.integers(1, 4)))).astype(float)
    scales = 2.0 ** rng.integers(-30, 1, M)
    k = int(rng.integers(1, 4))
    measurements = [np.sort(rng.permutation(M)[: rng.integers(2, M + 1)]) for _ in range(k)]
    alpha, teacher = float(rng.uniform(0.05, 2)), rng.standard_normal(M)
    noise = 64 * (F @ F.T) * np.outer(scales, scales)
    return Case("singular", B @ B.T, noise, teacher, measurements, alpha, np.zeros(k), np.full(k, 0.5), 0.0)


def spiked_case(rng: np.random.Generator) -> Case:
    """A case of one or two directions of small integers, which many features explain exactly, at any sample ratio."""
    M, k = int(rng.integers(2, 9)), int(rng.integers(1, 3))
    B = rng.integers(-4, 5, (M, int(rng.integers(1, 3)))).astype(float)
    measurements = [np.sort(rng.permutation(M)[: rng.integers(1, M + 1)]) for _ in range(k)]
    alpha = float(rng.choice([rng.uniform(0.05, 2), rng.integers(1, 30)]))
    ridges = np.where(rng.random(k) < 0.7, 0.0, 10 ** rng.uniform(-6, 1, k))
    readout = np.where(rng.random(k) < 0.5, 0.0, 0.5)
    return Case("exact", B @ B.T, None, np.ones(M), measurements, alpha, ridges, readout, float(rng.choice([0, 0.5])))


def seeming_case(rng: np.random.Generator) -> Case:
    """A case whose covariance is singular or only seems so: copies, a last digit, variances far below others."""
    case = spiked_case(rng)
    M, style = len(case.teacher), rng.integers(4)
    scales = 2.0 ** rng.integers(-40, 1, M) if rng.random() < 0.3 else np.ones(M)
    S = case.signal * np.outer(scales, scales)
    if style == 0:
        Q, copied = rng.standard_normal((M, M + 2)), rng.integers(0, M, M)
        S = (Q @ Q.T)[np.ix_(copied, copied)]
    elif style == 1:
        i = rng.integers(M)
        S[i, i] *= 1 + 2.0**-52
    elif style == 2:
        case.noise = np.diag(np.where(rng.random(M) < 0.5, 0.0, 10.0 ** -rng.uniform(10, 40, M)))
    else:
        F = rng.integers(-2, 3, M) * 2.0 ** -rng.integers(0, 40)
        case.noise = np.outer(F, F)
    case.kind, case.signal, case.teacher = "seeming", S, rng.standard_normal(M)
    return case


def two_level_case(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Variances 1 and far less, and a sample ratio near a fraction of the features."""
    M = int(rng.integers(2, 13))
    variances = np.where(np.arange(M) < rng.integers(1, M + 1), 1.0, 10 ** rng.uniform(-8, -1))
    return variances, float(rng.integers(1, 2 * M) / M * (1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-10, -1)))


def joint_case(rng: np.random.Generator) -> dict:
    """Two or three members whose ridges are to be chosen together: what describes problem and ensemble."""
    k, style = int(rng.integers(2, 4)), int(rng.integers(3))
    label = float(rng.choice([0, rng.uniform(0, 1)]))
    eta = rng.choice([0.0, 1.0]) * rng.uniform(0, 1, k)
    name = str(rng.choice(["mean", "scaled", "simplex", "free"]))
    found = {"label_noise": label, "eta": eta, "aggregation": name, "alpha": float(rng.uniform(0.05, 2.5))}
    if style == 0:
        nu = rng.uniform(0.05, 1, k) if rng.random() < 0.5 else np.full(k, rng.uniform(0.1, 1))
        overlap = int(rng.integers(3))
        nu = nu / max(1, nu.sum()) if overlap == 0 else nu
        shared = (np.zeros((k, k)), np.outer(nu, nu), np.minimum(nu[:, None], nu))[overlap]
        shared[np.arange(k), np.arange(k)] = nu
        equicorrelated = [float(rng.choice([0, rng.uniform(low, 0.9)])) for low in (0, 0, -0.9)]
        return found | {"equicorrelated": equicorrelated, "fractions": shared}
    M = int(rng.integers(4, 13))
    signal = np.diag(rng.choice([1.0, 10.0 ** rng.uniform(-8, 0)], M))
    if style == 2:
        X = rng.standard_normal((M, int(rng.integers(2, 2 * M)))) * 10 ** rng.uniform(-2, 1, (M, 1))
        signal = X @ X.T
    noise = np.diag(rng.uniform(0, 1, M)) if rng.random() < 0.5 else None
    members = [np.sort(rng.permutation(M)[: rng.integers(1, M + 1)]) for _ in range(k)]
    if rng.random() < 0.3:
        members[1] = members[0]
    if rng.random() < 0.3:
        found["alpha"] = float(rng.integers(1, 2 * M) / M * (1 + 10 ** rng.uniform(-8, -1)))
    return found | {"signal": signal, "noise": noise, "teacher": rng.standard_normal(M), "members": members}


def _correlation(rng, M):
    if rng.random() < 0.2:
        return np.eye(M)
    if rng.random() < 0.3:
        rho = rng.uniform(-0.8, 0.95)
        return rho ** np.abs(np.subtract.outer(np.arange(M), np.arange(M)))
    X = rng.standard_normal((M, int(M * rng.uniform(1.3, 5))))
    C = np.corrcoef(X)
    return (C + C.T) / 2


def _dense(measurement, M):
    return np.eye(M)[measurement] if measurement.ndim == 1 else measurement


def _members(rng, M, k, traits):
    if "matrices" in traits:
        found = []
        for _ in range(k):
            N = int(rng.integers(1, M + 1))
            A = rng.standard_normal((N, M))
            style = rng.random()
            if style < 0.4:
                A = A * 10 ** rng.uniform(-100, 100)
            elif style < 0.6:
                A = A * 10 ** rng.uniform(-6, 6, (N, 1))
            elif style < 0.75 and N > 1:
                A[N // 2 :] = A[: N - N // 2]  # repeated rows
            found.append(A)
        if k > 1 and rng.random() < 0.2:
            found[1] = found[0].copy()
        return found
    sizes = rng.integers(1, M + 1, k)
    if rng.random() < 0.3:
        sizes[:] = M if rng.random() < 0.5 else sizes[0]
    found = [np.sort(rng.choice(M, int(n), replace=False)) for n in sizes]
    if "twins" in traits and k > 1:
        found[1] = found[0].copy()
        if k > 2 and len(found[0]) > 1:
            found[2] = found[0][: len(found[0]) - int(rng.integers(1, len(found[0])))]
    elif "twins" in traits and len(found[0]) > 1:
        found.append(found[0][:-1])
        found = found[:k]
    return found


def _negative(rng, total, measurements, alpha, M, ridges):
    """A ridge between the floor of the branch and zero, by a plain float scan: good to a few digits is enough."""
    ridges = ridges.copy()
    for r, m in enumerate(measurements):
        A = _dense(m, M)
        H = A @ total @ A.T * (M / len(m))
        d = np.linalg.eigvalsh(H / np.abs(H).max()) * np.abs(H).max()
        d = d[d > 1e-13 * d[-1]]
        grid = np.concatenate([-d[0] * (1 - np.geomspace(1e-6, 1, 200)[:-1]), d[-1] * np.geomspace(1e-8, 1e4, 400)])
        gamma = ((d / (grid[:, None] + d)) ** 2).sum(1) / (alpha * M)
        lam = grid * (alpha - (d / (grid[:, None] + d)).sum(1) / M)
        inside = gamma < 1
        if not inside.any():
            continue
        lowest = lam[inside].min()
        if lowest < 0:
            ridges[r] = lowest * (1 - 10 ** rng.uniform(-4, 0))
    return ridges


def hostile_equicorrelated(rng: np.random.Generator, n: int) -> dict:
    """Arrays of n hostile Prop. 2 points: one member pair (k = 2) each, all parameters exact doubles."""

    def wide(low, high, zero=0.0):
        x = 10 ** rng.uniform(low, high, n)
        return np.where(rng.random(n) < zero, 0.0, x)

    s = wide(-6, 6)
    c = np.where(rng.random(n) < 0.3, 0.0, rng.uniform(0, 1, n))
    c = np.where(rng.random(n) < 0.05, 1 - 10 ** rng.uniform(-15, -1, n), c)
    nu = np.where(rng.random((n, 2)) < 0.3, 1.0, 10 ** rng.uniform(-4, 0, (n, 2)))
    least = np.where(nu.max(1) == 1, nu.min(1), np.maximum(0.0, nu.sum(1) - 1))  # exact where a member sees everything
    overlap = least + (np.minimum(nu[:, 0], nu[:, 1]) - least) * rng.choice([0, 1, 0.5], n)
    alpha = 10 ** rng.uniform(-4, 4, n)
    near = rng.random(n)
    alpha = np.where(near < 0.3, nu[:, 0] * (1 + rng.choice([-1, 1], n) * 10 ** rng.uniform(-14, -1, n)), alpha)
    alpha = np.where(near > 0.92, 10 ** rng.uniform(-300, 300, n), alpha)
    omega = np.sqrt(s) * wide(-9, 1, 0.4)
    a = s * (1 - c) + omega**2
    lam = a[:, None] * 10 ** rng.uniform(-20, 6, (n, 2))
    lam = np.where(rng.random((n, 2)) < 0.4, 0.0, lam)
    with np.errstate(over="ignore"):  # infinite ones are not used
        lowest = -a[:, None] / nu * ((alpha[:, None] - nu) / (np.sqrt(alpha[:, None]) + np.sqrt(nu))) ** 2
    negative = (rng.random((n, 1)) < 0.1) & np.isfinite(lowest)
    lam = np.where(negative, lowest * (1 - 10 ** rng.uniform(-4, 0, (n, 2))), lam)
    rho = np.where(rng.random(n) < 0.4, 0.0, rng.uniform(-1, 1, n))
    rho = np.where(rng.random(n) < 0.05, rng.choice([-1.0, 1.0], n), rho)
    size = np.sqrt(s)
    return {
        "s": s,
        "c": c,
        "omega": omega,
        "rho": rho,
        "zeta": size * wide(-9, 1, 0.4),
        "alpha": alpha,
        "nu": nu,
        "overlap": overlap,
        "lam": lam,
        "eta": size[:, None] * np.where(rng.random((n, 2)) < 0.4, 0.0, 10 ** rng.uniform(-9, 1, (n, 2))),
    }


def hostile_rows(rng: np.random.Generator) -> tuple:
    """Rows to leave out one by one: X (n, N), y, penalty, weights or None, and whether there is an intercept."""
    n = int(rng.integers(4, 13))
    N = max(1, n + int(rng.integers(-4, 5)))
    style = rng.random()
    if style < 0.5:
        X = rng.standard_normal((n, N)) * 10 ** rng.uniform(-6, 6, N)
    elif style < 0.8:
        X = rng.standard_normal((n, N))
    else:
        X = (rng.random((n, N)) < 0.3).astype(float)
    if rng.random() < 0.5:
        X = X + X.std(0) * 10 ** rng.uniform(0, 6) * rng.choice([-1, 1], N)
    y = rng.standard_normal(n)
    weights = rng.uniform(0.2, 3, n) if rng.random() < 0.3 else None
    penalty = float(rng.choice([0, 1e-12, 1e-8, 1e-4, 0.01, 1, 100]) * X.var() * n)
    return X, y, penalty, weights, bool(rng.random() < 0.8)
