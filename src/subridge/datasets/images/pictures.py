"""Labelled pictures, wherever they are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subridge.arrays.types import BoolArray, IntArray

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures that are opened one by one.

    Attributes
    ----------
    identity : tuple of str
        What tells them from others: paths of files; or source, checksums and counts of a published collection.
    labels : ndarray of int, shape (n,)
        Positions in ``class_names``.
    is_test : ndarray of bool, shape (n,)
        The split they came with; all False where they have none.
    class_names : tuple of str
    open : callable
        From a position to a picture; raises DataError where it does not decode.
    """

    identity: tuple[str, ...]
    labels: IntArray
    is_test: BoolArray
    class_names: tuple[str, ...]
    open: Callable[[int], "Image.Image"]
