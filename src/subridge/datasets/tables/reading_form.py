"""How a table is to be read: the form of its text, and what becomes of columns that hold no numbers."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from subridge.datasets.tables.text_format import TextFormat

Categories: TypeAlias = Literal["error", "one-hot"]
Dates: TypeAlias = Literal["error", "days"]


@dataclass(frozen=True)
class Encoding:
    """What becomes of columns of text or categories and of dates: refused, or turned into numbers as asked."""

    categories: Categories = "error"
    dates: Dates = "error"


@dataclass(frozen=True)
class ReadingForm:
    """The form of text files, and the encoding of columns."""

    text: TextFormat = field(default_factory=TextFormat)
    encoding: Encoding = field(default_factory=Encoding)
