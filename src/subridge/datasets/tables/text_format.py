"""How a table of text is written: separator, decimal sign, encoding and what stands for a missing value."""

from codecs import lookup
from collections.abc import Iterable
from dataclasses import dataclass

from subridge.model.checks import items_of
from subridge.model.errors import ParameterError

# Cells of a text file that stand for a missing value; the libraries' own lists differ.
_MISSING_TEXT = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "<NA>")


@dataclass(frozen=True)
class TextFormat:
    """What a user says of a file of text; None leaves the separator to the ending of its name."""

    separator: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    missing_text: tuple[str, ...] = _MISSING_TEXT

    @classmethod
    def checked(cls, separator: str | None, decimal: str, encoding: str, missing_values: Iterable[str]) -> "TextFormat":
        """From the arguments of `read_table`."""
        if separator is not None:
            if isinstance(separator, str) and separator in ("tab", "\\t"):
                separator = "\t"
            if not isinstance(separator, str) or len(separator) != 1:
                raise ParameterError(f"separator must be one character, or 'tab', got {separator!r}")
        if not isinstance(decimal, str) or decimal not in (".", ","):
            raise ParameterError(f"decimal must be '.' or ',', got {decimal!r}")
        if separator == decimal:
            raise ParameterError(f"separator and decimal are both {decimal!r}; they must differ")
        try:
            lookup(encoding)
        except (LookupError, TypeError, ValueError) as error:
            raise ParameterError(
                f"encoding must be one that Python knows, such as 'latin-1', got {encoding!r}"
            ) from error
        more = (
            (missing_values,) if isinstance(missing_values, str) else tuple(items_of("missing_values", missing_values))
        )
        if not all(isinstance(text, str) for text in more):
            raise ParameterError(f"missing_values must be text, got {missing_values!r}")
        return cls(separator, decimal, encoding, (*_MISSING_TEXT, *more))

    def separator_of(self, suffix: str) -> str:
        """The separator of a file with such an ending; a decimal comma goes with semicolons."""
        if self.separator is not None:
            return self.separator
        return "\t" if suffix == ".tsv" else (";" if self.decimal == "," else ",")
