"""Labelled pictures, wherever they are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from subridge.arrays.types import BoolArray, IntArray

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True, eq=False)
class Pictures:
    """Pictures that are opened one by one: `open` takes a position and raises `DataError` where one does not decode.

    `identity` tells them from others: paths of files; or source, checksums and counts of a published collection.
    `labels`, shape (n,), are positions in `class_names`; `is_test`, shape (n,), is the split they came with, all False
    where none.
    """

    identity: tuple[str, ...]
    labels: IntArray
    is_test: BoolArray
    class_names: tuple[str, ...]
    open: Callable[[int], "Image.Image"]
