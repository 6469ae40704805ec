"""Names for the types used in signatures."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    FloatArray: TypeAlias = npt.NDArray[np.float64]
    IntArray: TypeAlias = npt.NDArray[np.int64]
    BoolArray: TypeAlias = npt.NDArray[np.bool_]
    ArrayLike: TypeAlias = npt.ArrayLike
else:  # short names in signatures, where ``help`` would show pages of NumPy's own aliases
    FloatArray = IntArray = BoolArray = np.ndarray
    ArrayLike = type("ArrayLike", (), {"__module__": "numpy.typing"})

# An array of any supported library, on any device. Type checkers see NumPy's interface, which the array API standard
# mirrors. Code for what another library lacks or adds stays in this subpackage.
Array: TypeAlias = FloatArray

Seed: TypeAlias = int | tuple[int, ...]

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None


class Namespace(Protocol):
    """The functions of an array library, from arrays to arrays."""

    linalg: "Namespace"

    def __getattr__(self, name: str) -> Callable[..., Array]: ...


_Factor = TypeVar("_Factor")  # an array, or another sparse matrix: the product is of its kind


class SparseMatrix(Protocol):
    """The part of the interface of SciPy's sparse matrices that is used."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.float64]
    T: "SparseMatrix"
    data: FloatArray
    tocsc: Callable[[], "SparseMatrix"]
    tocsr: Callable[[], "SparseMatrix"]
    toarray: Callable[[], FloatArray]
    multiply: Callable[["SparseMatrix | Array"], "SparseMatrix"]

    def __matmul__(self, other: _Factor) -> _Factor: ...

    def __getitem__(self, key: IntArray | BoolArray | tuple[slice, IntArray]) -> "SparseMatrix": ...


# What a user may pass as a table of features: numbers, a sparse matrix, a data frame or a tensor.
MatrixLike: TypeAlias = "ArrayLike | SparseMatrix | IntoDataFrame"
