from subridge.derivations import block_forms as block_forms
from subridge.derivations import block_matrix as block_matrix
from subridge.derivations import block_matrix as block_printing
from subridge.derivations import equicorrelated as equicorrelated
from subridge.derivations import equicorrelated as limits
from subridge.derivations import equicorrelated as optimal_ridge
from subridge.derivations import equicorrelated as saddle_point
from subridge.derivations import loureiro as loureiro
from subridge.derivations import notation as notation
from subridge.derivations import numeric as numeric
from subridge.derivations import proposition_one as proposition_one
from subridge.derivations import reduced as large_ensembles
from subridge.derivations import reduced as reduced
from subridge.derivations import replica as effective_ridge
from subridge.derivations import replica as replica
from subridge.derivations import replica as spectral_sums
from subridge.derivations import scaled_mean as scaled_mean
from subridge.derivations import spiked as spiked
from subridge.derivations import two_groups as two_groups
from subridge.derivations import walkthrough as walkthrough

__all__ = [
    "block_forms",
    "block_matrix",
    "block_printing",
    "effective_ridge",
    "equicorrelated",
    "large_ensembles",
    "limits",
    "loureiro",
    "notation",
    "numeric",
    "optimal_ridge",
    "proposition_one",
    "reduced",
    "replica",
    "saddle_point",
    "scaled_mean",
    "spectral_sums",
    "spiked",
    "two_groups",
    "walkthrough",
]
