"""What descriptions share: checks of arguments, which name them, seeds and random streams, and fingerprints.

Streams are addressed by coordinates, so that the order of work cannot change what is drawn.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from html import escape
from types import NoneType
from typing import Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from subridge.arrays.machine import available_memory
from subridge.arrays.types import ArrayLike, FloatArray, Json, Seed
from subridge.model.errors import BudgetError, DataError, ParameterError, agreeing, counted, listed

Item = TypeVar("Item")

# What a ridge is best for: each member alone; the ensemble, with one common value; or the ensemble, with a value for
# each member.
Scope: TypeAlias = Literal["member", "ensemble", "joint"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

# Kinds of NumPy types whose values are not real numbers.
_ODD_KINDS = dict.fromkeys("UST", "text") | {"c": "complex numbers", "M": "dates", "m": "durations", "V": "records"}
# Arrays up to the first length are described by their numbers, up to the second by their bytes, and longer ones only
# by a fingerprint.
_READABLE = 64
_EMBEDDED = 65536
_LARGEST = 1e150  # sum of squares
_SHOWN = 6  # numbers of an array that are shown in a line


def real_array(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as a read-only float64 array, refusing NaN; only arrays that nobody can change are not copied."""
    refuse_odd_values(name, value)
    fixed = isinstance(value, np.ndarray) and value.base is None and not value.flags.writeable
    try:
        array = np.array(value, dtype=float, copy=None if fixed else True)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ParameterError(f"{name} must be a number or an array of numbers, got {value!r}") from error
    if np.isnan(array).any():
        raise DataError(f"{name} contains NaN; replace or drop the missing values")
    array.setflags(write=False)
    return array


def refuse_odd_values(name: str, value: ArrayLike) -> None:
    """Refuse what NumPy would silently convert to numbers: hidden values, None, complex numbers, text, dates."""
    if value is None or isinstance(value, str | bytes):
        raise ParameterError(f"{name} must be a number or an array of numbers, got {value!r}")
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise DataError(f"{name} is a masked array with hidden values; drop them, or fill them in by .filled(value)")
    if not isinstance(value, list | tuple) and not hasattr(value, "__array__"):
        return
    try:
        kind = np.asarray(value).dtype.kind
    except (ValueError, TypeError, RuntimeError):  # ragged, or a tensor on a device; the conversion says so
        return
    if kind in _ODD_KINDS:
        raise DataError(f"{name} holds {_ODD_KINDS[kind]}, not real numbers; convert it to floats first")
    if kind == "O":
        wrong = str | bytes | date | timedelta
        odd = next((item for item in np.asarray(value, dtype=object).flat if isinstance(item, wrong)), None)
        if odd is not None:
            raise DataError(
                f"{name} holds {'text' if isinstance(odd, str | bytes) else 'dates'} ({odd!r}), not numbers; convert "
                "it to floats first"
            )


def finite_array(name: str, value: ArrayLike) -> FloatArray:
    array = real_array(name, value)
    if np.isinf(array).any():
        raise DataError(f"{name} contains infinity; every entry must be finite")
    return array


def non_negative(name: str, value: ArrayLike) -> FloatArray:
    """A quantity of at most 1e100, so that its square and products of these are finite."""
    return within(name, value, 0.0, 1e100)


def within(name: str, value: ArrayLike, low: float, high: float) -> FloatArray:
    array = finite_array(name, value)
    beyond = np.maximum(low - array, array - high)
    if (beyond > 0).any():
        span = f"lie in [{low:g}, {high:g}]" if high < 1e100 or (array > high).any() else f"be at least {low:g}"
        raise ParameterError(f"{name} must {span}, got {array.flat[beyond.argmax()]:g}")
    return array


def extended_non_negative(name: str, value: ArrayLike, least: float = 0.0) -> FloatArray:
    """A quantity that may be +inf, such as a sample ratio."""
    array = real_array(name, value)
    if (array < least).any():
        raise ParameterError(f"{name} must be at least {least:g} (inf is allowed), got {array.min():g}")
    return array


def positive_integer(name: str, value: int, most: int | None = None) -> int:
    try:
        number = int(value)
        whole = not isinstance(value, bool | np.bool_) and number == value and number >= 1
    except (TypeError, ValueError, OverflowError, np.ma.MaskError):
        whole = False
    if not whole:
        raise ParameterError(f"{name} must be a positive integer, got {value!r}")
    if most is not None and number > most:
        raise ParameterError(f"{name} must be at most {most:,}, got {number:,}; no machine would finish this")
    return number


def ascending_integers(name: str, value: ArrayLike) -> tuple[int, ...]:
    """A grid of counts, such as training-set sizes."""
    array = np.atleast_1d(real_array(name, value))
    counts = tuple(positive_integer(name, each, 10**15) for each in array.tolist())
    if not counts or (np.diff(counts) <= 0).any():
        raise ParameterError(
            f"{name} must be strictly ascending, got {listed(counts) or 'none'}; sort it and drop repeats"
        )
    return counts


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Check a word.

    >>> one_of("scope", "everyone", SCOPES)
    Traceback (most recent call last):
    subridge.model.errors.ParameterError: scope must be "member", "ensemble" or "joint", got 'everyone'
    """
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(f'"{word}"' for word in allowed[:-1])
        raise ParameterError(f'{name} must be {words} or "{allowed[-1]}", got {value!r}')
    return value


def truth(name: str, value: bool) -> bool:
    """Check a truth value: text such as "no" would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def items_of(name: str, value: Iterable[Item]) -> list[Item]:
    """The items of a list or another iterable; text and mappings are refused."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) and getattr(value, "ndim", 1) != 0:
        return list(value)
    raise ParameterError(f"{name} must be a list, got {value!r}")


def of_kind(name: str, value: object, *kinds: type) -> None:
    """Refuse anything else in place of an object of this package; NoneType among the kinds lets None pass.

    >>> of_kind("ensemble", 3, Shown)
    Traceback (most recent call last):
    subridge.model.errors.ParameterError: ensemble must be a Shown, got int
    """
    if not isinstance(value, kinds):
        named = (kind.__name__ for kind in kinds if kind is not NoneType)
        words = [f"{'an' if each[0] in 'AEIO' else 'a'} {each}" for each in named]
        raise ParameterError(f"{name} must be {' or '.join(words)}, got {type(value).__name__}")


def one_number(name: str, array: FloatArray, most: float = 1e100) -> float:
    """The only number of a checked array; the default limit keeps its square finite."""
    if array.size != 1 or abs(array.item()) > most:
        raise ParameterError(f"{name} must be one number of at most {most:g}, got {array.tolist()!r}")
    return float(array.item())


def common_shape(**shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape all parameters broadcast to, or an error that names them."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError as error:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise ParameterError(f"shapes do not broadcast together: {told}; add axes of length 1") from error


def refuse_large(name: str, square: float) -> None:
    """Refuse data by the sum of their squares, whose own square must be a float.

    >>> refuse_large("X", 1e300)
    Traceback (most recent call last):
    subridge.model.errors.DataError: X holds numbers of about 1e+150, whose squares leave the range of floats; ...
    """
    if not square < _LARGEST:
        raise DataError(
            f"{name} holds numbers of {f'about {square**0.5:.0e}' if square < np.inf else 'more than 1e+154'}, whose "
            f"squares leave the range of floats; divide {name} by a constant"
        )


def refuse_large_entries(name: str, entries: FloatArray) -> None:
    """Refuse an array with entries whose squares leave the range of floats; other checks refuse NaN."""
    flat = entries.ravel(order="K")
    if not float(np.vdot(flat, flat)) < _LARGEST:  # or NaN, or single precision
        largest = max(abs(float(bound.reduce(entries, axis=None, initial=0.0))) for bound in (np.fmax, np.fmin))
        refuse_large(name, largest * largest)


def refuse_beyond_memory(what: str, needed: float, remedy: str) -> None:
    """Refuse work that needs more memory than is free: the system may kill such a process without a message.

    >>> refuse_beyond_memory("it", 1e30, "take less")
    Traceback (most recent call last):
    subridge.model.errors.BudgetError: it needs about 931,...00 GiB of memory, and only ... GiB are free; take less
    """
    # Little is always there, and to ask the system takes as long as a small risk.
    if needed > 2**24 and needed > (free := available_memory()):
        raise BudgetError(
            f"{what} needs about {needed / 2**30:,.2f} GiB of memory, and only {free / 2**30:,.2f} GiB are free; "
            f"{remedy}"
        )


def refuse_odd_table(name: str, table: object) -> None:
    """Refuse columns of text, categories or dates, repeated names, hidden values, and numbers written as text.

    Tensors and sparse matrices always hold numbers. Scikit-learn checks complex numbers and columns of Python objects.

    >>> refuse_odd_table("X", [[1.0, 2.0]])
    """
    if isinstance(table, list | tuple | np.ndarray):
        try:
            array = np.asanyarray(table)
        except ValueError as error:
            raise DataError(f"{name} must be a table with rows of equal length: {error}") from error
        if array.dtype.kind not in "biufc" or isinstance(array, np.ma.MaskedArray):
            refuse_odd_values(name, array)
        return
    import narwhals as nw  # slow, and few tables are data frames

    try:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"column names of {name} must differ: {error}; rename them") from error
    odd = [
        f"{each} ({type(kind).__name__})"
        for each, kind in (frame.schema if isinstance(frame, nw.DataFrame) else {}).items()
        if kind not in (nw.Boolean, nw.Object, nw.Unknown) and not kind.is_numeric()
    ]
    if odd:
        raise DataError(
            f"{counted(len(odd), 'column')} of {name} {agreeing(len(odd), 'holds', 'hold')} no numbers: "
            f"{listed(odd)}; leave out such columns or encode them, for example with "
            'sr.datasets.read_table(..., categories="one-hot", dates="days")'
        )


def checked_seed(name: str, seed: Seed | None) -> Seed:
    """A seed that can be repeated: an integer of at least 0, or several; None is replaced by a random one.

    Examples
    --------
    >>> checked_seed("seed", (1, 2)), isinstance(checked_seed("seed", None), int)
    ((1, 2), True)
    """
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    parts = seed if isinstance(seed, tuple | list) else (seed,)
    if not parts or not all(isinstance(part, int | np.integer) and part >= 0 for part in parts):
        raise ParameterError(f"{name} must be an integer of at least 0, or a tuple of them, got {seed!r}")
    whole = tuple(int(part) for part in parts)
    return whole if isinstance(seed, tuple | list) else whole[0]


def stream(seed: Seed | np.random.Generator | None, *coordinates: int) -> np.random.Generator:
    """A generator at a grid coordinate such as ``(trial, purpose)``; distinct coordinates give independent streams.

    A generator is returned as it is, and None gives a new one every time.

    Examples
    --------
    >>> bool(stream(0, 1).random() == stream(0, 1).random())
    True
    """
    if seed is None or isinstance(seed, np.random.Generator):
        return np.random.default_rng(seed)
    return np.random.default_rng(np.random.SeedSequence(checked_seed("seed", seed), spawn_key=coordinates))


def in_short(value: Any) -> str:
    """A value as it is shown: short arrays by their numbers, longer ones by their shape.

    >>> in_short(np.array(0.5)), in_short(np.array([1.0, 2.0])), in_short(np.zeros((3, 4)))
    ('0.5', '[1, 2]', 'array of shape (3, 4)')
    """
    if not isinstance(value, np.ndarray):
        return repr(value)
    if value.ndim > 1 or value.size > _SHOWN:
        return f"array of shape {value.shape}"
    return np.array2string(value.squeeze(), max_line_width=200, separator=", ", formatter={"all": "{:.4g}".format})


class Shown:
    """Base of dataclasses that are shown in one line, and as a table in a notebook."""

    def _shown(self) -> dict[str, str]:
        """What is shown, by name; the fields unless a class says otherwise."""
        return {field.name: in_short(getattr(self, field.name)) for field in fields(self) if field.repr}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._shown().items())})"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._shown().items())


def html_table(caption: str, rows: Iterable[Iterable[str]]) -> str:
    """A table for a notebook; the first cell of every row is its heading.

    >>> html_table("Sizes", [("M", "3 < 4")])
    "<table><caption>Sizes</caption><tr><th style='text-align:left'>M</th><td style='text-align:left'>3 &lt; 4</td>..."
    """
    left = "style='text-align:left'"
    lines = [
        f"<tr><th {left}>{escape(heading)}</th>{''.join(f'<td {left}>{escape(cell)}</td>' for cell in cells)}</tr>"
        for heading, *cells in rows
    ]
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


class Fingerprinted(Shown):
    """Base of frozen dataclasses that describe something."""

    def fingerprint(self) -> str:
        """Digest of type and contents, as text; equal descriptions have equal fingerprints.

        Examples
        --------
        >>> import subridge as sr
        >>> sr.subsets.Equal(3).fingerprint() == sr.subsets.Equal(3).fingerprint()
        True
        """
        return fingerprint(self)

    def _set(self, **checked: Any) -> None:
        """Set checked values, while a frozen dataclass is built."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)


def fingerprint(description: Any) -> str:
    """Return a hexadecimal digest of a description's type and contents; stores compare it before they resume."""
    if isinstance(description, np.ndarray):
        digest = hashlib.sha256(f"{description.dtype.str}{description.shape}".encode())
        digest.update(np.ascontiguousarray(description).data)
    else:
        digest = hashlib.sha256(json.dumps(describe(description)).encode())
    return digest.hexdigest()[:16]


def describe(value: Any) -> Json:
    """Return a description as plain JSON values, for the attributes of results and stores."""
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__} | {f.name: describe(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size <= _READABLE):
        return value.tolist()  # type: ignore[no-any-return]
    if isinstance(value, np.ndarray):
        summary = {"shape": list(value.shape), "dtype": value.dtype.str, "fingerprint": fingerprint(value)}
        if value.size <= _EMBEDDED:
            summary["base64"] = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode("ascii")
        return summary
    if isinstance(value, tuple | list):
        return [describe(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    if not hasattr(value, "fingerprint"):
        raise TypeError(f"cannot fingerprint {type(value).__name__}")
    return {"type": type(value).__name__, "fingerprint": value.fingerprint()}  # a strategy of the user's own
