"""Build the tables of Prop. 1, by the cheapest route the structure allows."""

from functools import lru_cache

import numpy as np
import scipy.sparse

from subridge.arrays.types import FloatArray
from subridge.spec.covariance import Covariance
from subridge.spec.errors import CovarianceError, SubsetError
from subridge.spec.plan import SubsetPlan
from subridge.spec.problem import Problem
from subridge.theory.general.spectrum import Spectrum
from subridge.theory.general.tables import Tables
from subridge.theory.general.tabulate_spiked import spiked_tables


@lru_cache(maxsize=2)
def tabulate(problem: Problem, plan: SubsetPlan) -> Tables:
    """Return the tables of a problem and a plan; the last two are kept, as callers sweep α in many calls."""
    if plan.n_features != problem.n_features:
        raise SubsetError(f"the plan is for {plan.n_features} features but the problem has {problem.n_features}")
    _check_scale(problem)
    forms = (problem.signal_covariance.diagonal_plus_low_rank(), problem.noise_covariance.diagonal_plus_low_rank())
    if plan.selects_features and forms[0] is not None and forms[1] is not None:
        variances = forms[0][0] + forms[1][0]
        factor = np.hstack([forms[0][1], forms[1][1]])
        if factor.shape[1] == 0:
            return _diagonal_tables(problem, plan, variances)
        # The projector of the constant part is as cheap as its rank; a rank near N_r gains nothing.
        if np.ptp(variances) == 0 and 2 * factor.shape[1] < plan.subset_sizes.min():
            return spiked_tables(problem, plan, float(variances[0]), factor)
    return _dense_tables(problem, plan)


def _dense_tables(problem: Problem, plan: SubsetPlan) -> Tables:
    """One eigendecomposition per member, then B = U_rᵀ Σ̃_rs U_s per pair."""
    M, k = plan.n_features, plan.n_members
    nu = plan.subset_sizes / M
    v = problem.signal_covariance.apply(problem.teacher_weights)
    spectra, bases, loadings = [], [], []
    for r in range(k):
        values, vectors = np.linalg.eigh(_measured_covariance(problem, plan, r, r) / nu[r])
        kept = values > values[-1] * len(values) * np.finfo(np.float64).eps * 10 if values[-1] > 0 else values > 0
        spectra.append(Spectrum(values[kept], np.ones(int(kept.sum())), M))
        bases.append(vectors[:, kept])
        loadings.append(bases[r].T @ plan.measure(r, v) / np.sqrt(nu[r]))
    trace, cross = {}, {}
    for r in range(k):
        d = spectra[r].values
        own = np.arange(len(d))
        trace[r, r] = scipy.sparse.csr_array((d**2 / M, (own, own)), shape=(len(d), len(d)))
        cross[r, r] = scipy.sparse.csr_array((loadings[r] ** 2 * d / M, (own, own)), shape=(len(d), len(d)))
        for s in range(r + 1, k):
            B = bases[r].T @ (_measured_covariance(problem, plan, r, s) @ bases[s]) / np.sqrt(nu[r] * nu[s])
            trace[r, s] = B**2 / M
            cross[r, s] = loadings[r][:, None] * B * loadings[s] / M
    explained = tuple(u**2 / M for u in loadings)
    return Tables(M, _signal_power(problem, v), tuple(spectra), explained, trace, cross)


def _diagonal_tables(problem: Problem, plan: SubsetPlan, variances: FloatArray) -> Tables:
    """Features are eigenvectors: members meet only in the features they share."""
    M, k = plan.n_features, plan.n_members
    nu = plan.subset_sizes / M
    v = problem.signal_covariance.apply(problem.teacher_weights)
    distinct, which = np.unique(variances, return_inverse=True)  # equal variances share one eigenspace
    used, spectra = [], []
    for r, index in enumerate(plan.measurements):
        counts = np.bincount(which[index], minlength=len(distinct)).astype(np.float64)
        kept = (counts > 0) & (distinct > 0)
        used.append(np.cumsum(kept) - 1)  # position of a variance among the member's eigenvalues
        spectra.append(Spectrum(distinct[kept] / nu[r], counts[kept], M))
    trace, cross = {}, {}
    for r in range(k):
        for s in range(r, k):
            shared = np.intersect1d(plan.measurements[r], plan.measurements[s], assume_unique=True)
            shared = shared[variances[shared] > 0]
            where = (used[r][which[shared]], used[s][which[shared]])
            shape = (len(spectra[r].values), len(spectra[s].values))
            scale = nu[r] * nu[s]
            trace[r, s] = scipy.sparse.csr_array((variances[shared] ** 2 / (scale * M), where), shape=shape)
            cross[r, s] = scipy.sparse.csr_array((v[shared] ** 2 * variances[shared] / (scale * M), where), shape=shape)
    explained: list[FloatArray] = []
    for r, index in enumerate(plan.measurements):
        positive = index[variances[index] > 0]
        weights = v[positive] ** 2 / (nu[r] * M)
        total = np.bincount(used[r][which[positive]], weights, minlength=len(spectra[r].values))
        explained.append(total.astype(np.float64))
    return Tables(M, _signal_power(problem, v), tuple(spectra), tuple(explained), trace, cross)


def _check_scale(problem: Problem) -> None:
    """Tables hold cubes of the covariance; beyond this they leave the range of floating point."""
    scale = float(problem.signal_covariance.variances_of_features().max())
    if scale != 0 and not 1e-90 < scale < 1e90:
        raise CovarianceError(
            f"signal_covariance has variances up to {scale:.3g}; rescale the data so that they lie in 1e-90 to 1e90"
        )


def _measured_covariance(problem: Problem, plan: SubsetPlan, r: int, s: int) -> FloatArray:
    """A_r (Σ_s + Σ_0) A_sᵀ."""
    return _block(problem.signal_covariance, plan, r, s) + _block(problem.noise_covariance, plan, r, s)


def _block(covariance: Covariance, plan: SubsetPlan, r: int, s: int) -> FloatArray:
    A, B = plan.measurements[r], plan.measurements[s]
    if A.ndim == 1 and B.ndim == 1:
        return covariance.block(A, B)
    right = B.T if B.ndim == 2 else plan.lift(s, np.eye(len(B)))
    return np.asarray(plan.measure(r, covariance.apply(right).T).T)


def _signal_power(problem: Problem, v: FloatArray) -> float:
    return float(problem.teacher_weights @ v) / problem.n_features
