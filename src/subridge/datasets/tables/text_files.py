"""Tables of text and parquet files as frames, by the first library that is installed."""

import gzip
import io
from pathlib import Path
from zlib import error as ZlibError

from narwhals.typing import IntoDataFrame

from subridge.datasets.tables.header import names_that_differ
from subridge.datasets.tables.text_format import TextFormat
from subridge.model.errors import DataError


def read_text(path: Path, suffix: str, form: TextFormat) -> tuple[IntoDataFrame, tuple[str, ...]]:
    """A table of text, plain or compressed, and notes on what was done to its names."""
    separator, text = form.separator_of(suffix), _text(path, form)
    if not text.strip():
        raise DataError(f"{path} is not a table of text (it is empty); check the file")
    header = text[: text.find("\n")] if "\n" in text else text
    if separator not in header:
        other = max((";", ",", "\t", "|"), key=header.count)
        if header.count(other):
            name = "tab" if other == "\t" else other
            raise DataError(
                f"{path} has no {separator!r} in its first line, but {other!r}: give its separator, separator={name!r}"
            )
    named, notes = names_that_differ(header.rstrip("\r"), separator)
    text = named + text[len(header) :]
    for read in (_text_by_polars, _text_by_pandas):
        try:
            return read(text, separator, form), notes
        except ImportError:
            continue
        except (OSError, ValueError) as error:
            short = str(error).strip().partition("\n")[0]
            raise DataError(f"{path} is not a table of text ({short}); check the file and its separator") from error
    raise DataError(f"{path} needs polars or pandas to be read; pip install 'subridge[tables]'")


def read_parquet(path: Path) -> IntoDataFrame:
    """A parquet file."""
    try:
        import polars as pl

        return pl.read_parquet(path)
    except ImportError:
        pass
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{path} is not a parquet file ({error}); check the file") from error
    try:
        import pandas as pd

        frame: IntoDataFrame = pd.read_parquet(path)
        return frame
    except ImportError as error:
        needs = f"{path} needs polars, or pandas with pyarrow, to be read; pip install 'subridge[tables]'"
        raise DataError(needs) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path} is not a parquet file ({error}); check the file") from error


def _text(path: Path, form: TextFormat) -> str:
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    except (OSError, EOFError, ZlibError) as error:
        raise DataError(f"{path} cannot be read ({error}); check the file") from error
    try:
        # A byte-order mark, as spreadsheets write it, is no part of the first name.
        return data.decode("utf-8-sig" if form.encoding.lower() in ("utf-8", "utf8") else form.encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not written in {form.encoding} (byte {error.object[error.start]:#x} at {error.start}); give "
            "its encoding, for example encoding='latin-1'"
        ) from error


def _text_by_polars(text: str, separator: str, form: TextFormat) -> IntoDataFrame:
    import polars as pl

    try:
        frame = pl.read_csv(
            io.BytesIO(text.encode("utf-8")),
            separator=separator,
            null_values=list(form.missing_text),
            infer_schema_length=None,
            decimal_comma=form.decimal == ",",
            try_parse_dates=True,
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error
    # Polars leaves numbers in quotes or with blanks around them as text, pandas does not. All columns at once: one by
    # one, a wide table would be copied as often as it has columns.
    bare = pl.selectors.string().str.strip_chars()
    if form.decimal == ",":
        bare = bare.str.replace(",", ".", literal=True)
    numbers = frame.select(bare.cast(pl.Float64, strict=False))
    lost = numbers.null_count().row(0)
    kept = frame.select(numbers.columns).null_count().row(0) if numbers.width else ()
    return frame.with_columns(
        numbers[name] for name, after, before in zip(numbers.columns, lost, kept, strict=True) if after == before
    )


def _text_by_pandas(text: str, separator: str, form: TextFormat) -> IntoDataFrame:
    import pandas as pd

    # Nullable types: otherwise booleans with a gap come as objects.
    frame: IntoDataFrame = pd.read_csv(
        io.StringIO(text),
        sep=separator,
        decimal=form.decimal,
        keep_default_na=False,
        na_values=list(form.missing_text),
        dtype_backend="numpy_nullable",
    )
    return frame
