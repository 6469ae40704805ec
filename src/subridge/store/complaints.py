"""What goes wrong with a store, in words a user can act on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from subridge.model.errors import StoreError
from subridge.store.layout import Kind


def listed(numbers: Sequence[int]) -> str:
    """Some tasks in words."""
    words = ", ".join(str(number) for number in numbers[:5])
    return f"task{'s' if len(numbers) > 1 else ''} {words}{f' and {len(numbers) - 5} more' if len(numbers) > 5 else ''}"


def require_zarr(kind: Kind) -> None:
    """Refuse to go on without the library that stores are made of."""
    try:
        import zarr  # noqa: F401
    except ImportError as error:
        raise StoreError(
            f"a store of {kind.holds} needs zarr, which is not installed; pip install 'subridge[{kind.extra}]'"
        ) from error


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Errors of the operating system, with what is kept and what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        raise StoreError(
            f"store {path} cannot be read or written ({error.strerror or error}); what was finished before is kept: "
            "free space or fix the permissions, then run again to go on"
        ) from error
