"""Which number of members is best, read off measured errors."""

import xarray as xr


def best_ensemble_sizes(errors: xr.DataArray, tolerance: float) -> xr.Dataset:
    """Find the best number of members from mean errors with a dimension ``n_members``, and which are nearly so.

    The dataset has ``optimal_n_members`` (the smallest k with the least error), ``smallest`` and ``largest`` k whose
    error is within `tolerance` of the best, and ``best_error``.

    >>> errors = xr.DataArray([0.3, 0.2, 0.205], {"n_members": [1, 4, 16]}, "n_members")
    >>> best = best_ensemble_sizes(errors, 0.01)
    >>> int(best.optimal_n_members), int(best.smallest), int(best.largest)
    (4, 4, 16)
    """
    best = errors.min("n_members")
    near = errors <= best + tolerance
    k = errors.n_members
    return xr.Dataset(
        {
            "optimal_n_members": k.where(errors == best).min("n_members"),
            "smallest": k.where(near).min("n_members"),
            "largest": k.where(near).max("n_members"),
            "best_error": best,
        }
    )
