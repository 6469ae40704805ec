"""The package against the references: relative error and stated bound of every hostile case."""

import warnings
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat

import subridge as sr
from reference import hostile, near_dependence, proposition_one, proposition_two, refits
from subridge.model.errors import AccuracyWarning, ConvergenceError, InfiniteRiskWarning, RidgeError
from subridge.ridge.member import member_paths
from subridge.ridge.rows import left_out_groups, training_rows

EXACT = ("singular", "exact", "seeming")  # kinds of covariances that are exactly singular, or seem so


class Verdict(NamedTuple):
    """One case: relative error, stated bound, whether it warned, and a remark, empty if all is well."""

    kind: str
    error: float
    bound: float
    warned: bool
    remark: str


def judge_one(seed: int, kind: str | None = None, aggregation: str = "mean") -> Verdict | None:
    """Prop. 1 on the hostile case of this seed; None where both sides agree that it is ill-posed."""
    case = hostile.hostile_case(np.random.default_rng(seed), kind)
    problem = sr.Problem(case.signal, case.teacher, case.noise, case.label_noise)
    return _judge_case(case, problem, case.signal, aggregation)


def judge_structured(seed: int, aggregation: str = "mean") -> Verdict | None:
    """Prop. 1 on independent features, or on equal variances and spikes, which have tables of their own."""
    case, factor = hostile.structured_case(np.random.default_rng(seed))
    variances, M = case.signal, len(case.teacher)
    signal = sr.covariance.low_rank(factor, variances) if factor.size else sr.covariance.diagonal(variances)
    noise = None if case.noise is None else sr.covariance.isotropic(M, float(case.noise[0, 0]))

    def exact() -> arb_mat:
        F = arb_mat(M, max(1, factor.shape[1]), [float(x) for x in (factor if factor.size else np.zeros(M)).ravel()])
        diagonal = arb_mat(M, M, [float(variances[i]) if i == j else 0 for i in range(M) for j in range(M)])
        return diagonal + F * F.transpose()

    return _judge_case(case, sr.Problem(signal, case.teacher, noise, case.label_noise), exact, aggregation)


def _judge_case(case: hostile.Case, problem: sr.Problem, signal: object, aggregation: str) -> Verdict | None:
    try:
        exact = proposition_one.proposition_one(
            signal,
            case.noise,
            case.teacher,
            case.measurements,
            case.alpha,
            case.ridges,
            case.readout,
            case.label_noise,
            aggregation,
        )
    except proposition_one.IllPosed:
        exact = None
    except proposition_one.Unresolved:
        if case.kind not in EXACT:
            return Verdict(case.kind, np.nan, np.nan, False, "unresolved by the reference")
        exact = "singular"
    plan = sr.SubsetPlan(tuple(case.measurements), len(case.teacher))
    ensemble = sr.Ensemble(plan, case.ridges, case.readout, aggregation)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = sr.risk(problem, ensemble, case.alpha)
        except RidgeError:
            return (
                None
                if exact is None
                else Verdict(case.kind, np.inf, np.nan, True, "refused a ridge that is well posed")
            )
        except ConvergenceError:
            return Verdict(case.kind, np.inf, np.nan, True, "did not converge")
    warned = any(issubclass(w.category, AccuracyWarning) for w in caught)
    bound = float(found.error_bound)
    if exact is None:
        return None if warned else Verdict(case.kind, np.inf, bound, warned, "ill-posed ridge let through")
    total = float(found.total)
    if case.kind in EXACT and (exact == "singular" or exact.relative_error(total) > 1e-9):
        # Balls cannot tell a zero eigenvalue from a small one; 60 digits of an exactly singular matrix of doubles can.
        reference = sr.precise_risk(problem, ensemble, case.alpha)
        same = total == reference or abs(total - reference) < 1e-28 * float(np.trace(case.signal))
        error = 0.0 if same else abs(total - reference) / reference if reference else np.inf
    else:
        error = exact.relative_error(total)
    remark = _remark(error, bound, warned, total)
    return Verdict(case.kind, error, bound, warned, remark or "; ".join(_raw(caught)))


def judge_singular(seed: int) -> Verdict | None:
    """Prop. 1 on covariances that are exactly singular."""
    rng = np.random.default_rng(seed)
    case = hostile.singular_case(rng) if seed % 2 == 0 else hostile.spiked_case(rng)
    return _judge_case(case, sr.Problem(case.signal, case.teacher, case.noise, case.label_noise), case.signal, "mean")


def judge_seeming(seed: int) -> Verdict | None:
    """Prop. 1 on covariances that are exactly singular, or only seem so."""
    case = hostile.seeming_case(np.random.default_rng(seed))
    return _judge_case(case, sr.Problem(case.signal, case.teacher, case.noise, case.label_noise), case.signal, "mean")


def judge_common_ridge(seed: int) -> Verdict:
    """The best common ridge of one member on two levels of variance: it exists, and no grid of ridges beats it."""
    variances, alpha = hostile.two_level_case(np.random.default_rng(seed))
    problem = sr.Problem(sr.covariance.diagonal(variances), np.ones(len(variances)), None, 0.3)
    plan = sr.SubsetPlan.from_indices([range(len(variances))], len(variances))
    return _judge_ridge("common ridge", problem, plan, np.zeros(1), alpha, "mean", scope="ensemble", levels=60)


def judge_joint_ridges(seed: int) -> Verdict:
    """Ridges chosen together: no grid of ridges beats them by more than 1e-6."""
    case = hostile.joint_case(np.random.default_rng(seed))
    if "equicorrelated" in case:
        problem = sr.EquicorrelatedProblem(1.0, *case["equicorrelated"], case["label_noise"])
        subsets = case["fractions"]
    else:
        problem = sr.Problem(case["signal"], case["teacher"], case["noise"], case["label_noise"])
        subsets = sr.SubsetPlan(tuple(case["members"]), len(case["teacher"]))
    k = len(case["eta"])
    return _judge_ridge(
        "joint ridges", problem, subsets, case["eta"], case["alpha"], case["aggregation"], "joint", 24 if k == 2 else 12
    )


def _judge_ridge(kind, problem, subsets, eta, alpha, aggregation, scope, levels) -> Verdict:
    k = len(eta)

    def total(ridges):
        """Risks that are certain; others are infinite."""
        found = sr.risk(problem, sr.Ensemble(subsets, ridges, eta, aggregation), alpha)
        return np.where(found.error_bound < 1e-8, found.total, np.inf)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = sr.optimal_ridge(
                problem, sr.Ensemble(subsets, readout_noise=eta, aggregation=aggregation), alpha, scope=scope
            )
            reached = float(total(np.where(np.isinf(found), 1e14, found)))
        except (RidgeError, ConvergenceError) as error:
            return Verdict(kind, np.inf, np.nan, False, f"raised {error}")
        line = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, levels), [1e14]])
        grid = np.stack(np.meshgrid(*[line] * k, indexing="ij"), axis=-1).reshape(-1, k)
        least = float(np.nanmin(total(grid)))
    beaten = max(0.0, reached - least - 1e-13) / reached if 0 < reached < np.inf else 0.0
    remark = "beaten by a grid" if beaten > 1e-6 else "; ".join(_raw(caught))
    return Verdict(kind, beaten, 1e-6, False, remark)


def _raw(caught) -> list[str]:
    """Warnings that are not the package's own."""
    own = (AccuracyWarning, InfiniteRiskWarning)
    return sorted({f"raw warning: {w.message}" for w in caught if not issubclass(w.category, own)})


def judge_two(seed: int, n: int, n_features: int | None = None, aggregation: str = "mean") -> list[Verdict]:
    """Prop. 2 on n hostile pairs of members, for M → ∞ or at finite M."""
    case = hostile.hostile_equicorrelated(np.random.default_rng(seed), n)
    nu = np.empty((n, 2, 2))
    nu[:, [0, 1], [0, 1]] = case["nu"]
    nu[:, 0, 1] = nu[:, 1, 0] = case["overlap"]
    problem = sr.EquicorrelatedProblem(case["s"], case["c"], case["omega"], case["rho"], case["zeta"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ensemble = sr.Ensemble(nu, case["lam"], case["eta"], aggregation)
        found = sr.risk(problem, ensemble, case["alpha"], n_features=n_features)
    verdicts = []
    for i in range(n):
        scalars = [case[name][i] for name in ("s", "c", "omega", "rho", "zeta", "alpha")]
        fractions = nu[i, 0, 0], nu[i, 1, 1], nu[i, 0, 1]
        total, bound = float(found.total[i]), float(found.error_bound[i])
        try:
            exact = proposition_two.proposition_two(
                *scalars, fractions, case["lam"][i], case["eta"][i], n_features=n_features, aggregation=aggregation
            )
        except proposition_two.IllPosed:
            verdicts.append(Verdict("Prop. 2", np.inf, bound, bound > 1e-8, "" if bound > 1e-8 else "ill-posed"))
            continue
        error = _error(exact, total)
        verdicts.append(Verdict("Prop. 2", error, bound, bound > 1e-8, _remark(error, bound, bound > 1e-8, total)))
    return verdicts


def _error(exact: "arb | str", total: float) -> float:
    if isinstance(exact, str) or np.isinf(total):
        return 0.0 if isinstance(exact, str) and np.isinf(total) else np.inf
    if exact.contains(0) or abs(float(exact.mid())) < 1e-290:  # underflow is no error
        return 0.0 if total < 1e-289 else np.inf
    return float(abs((arb(total) - exact) / exact).mid())


def _remark(error: float, bound: float, warned: bool, total: float) -> str:
    if total < 0:
        return "negative"
    if error > 1e-8 and not warned:
        return "wrong without a warning"
    return "beyond its bound" if error > bound else ""


def summary(verdicts: list[Verdict]) -> str:
    """One line: how many, how wrong, how wide the bounds are."""
    known = [v for v in verdicts if not np.isnan(v.error)]
    error, bound = np.array([v.error for v in known]), np.array([v.bound for v in known])
    warned = np.array([v.warned for v in known])
    right, visible = error <= 1e-10, (error > 1e-14) & np.isfinite(error)
    with np.errstate(over="ignore"):  # a bound of inf, or of 1e300, is as good as none
        ratio = np.median(bound[visible] / error[visible]) if visible.any() else np.nan
    return (
        f"n={len(known)} unresolved={len(verdicts) - len(known)} median error={np.median(error):.1e} "
        f"above 1e-8: {int((error > 1e-8).sum())} median bound={np.median(bound):.1e} bound/error={ratio:.3g} "
        f"right yet warned={np.mean(warned[right]):.2%} losses={sum(bool(v.remark) for v in verdicts)}"
    )


def judge_rows(seed: int) -> Verdict:
    """Leave-one-out errors, by their mean square, against refits in ball arithmetic."""
    return _judge_left_out("leave-one-out", *hostile.hostile_rows(np.random.default_rng(seed)))


def judge_near(seed: int) -> Verdict:
    """The same for rows and groups of rows whose columns others explain exactly or nearly so."""
    case = near_dependence.near_dependent_rows(np.random.default_rng(seed))
    return _judge_left_out("rows" if case[-1] is None else "groups", *case)


def _judge_left_out(kind, X, y, penalty, weights, intercept, groups=None) -> Verdict:
    with np.errstate(over="ignore"):
        exact = float(np.mean(refits.refit_errors(X, y, penalty, weights, intercept, groups) ** 2))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sets = None if groups is None else left_out_groups(groups, len(y))
        rows = training_rows(X, y[None], weights, intercept, sets)
        plan = sr.SubsetPlan.from_indices([np.arange(X.shape[1])], X.shape[1])
        errors = member_paths(rows, plan, np.array([penalty / X.shape[1]]))[0].errors(0)[0]
    warned = any(issubclass(w.category, AccuracyWarning) for w in caught)
    error = abs(float(np.mean(errors**2)) - exact) / exact if exact else float(np.mean(errors**2) > 1e-30)
    silent = "wrong without a warning" if not error <= 1e-7 and not warned else ""
    return Verdict(kind, error, np.nan, warned, silent)
