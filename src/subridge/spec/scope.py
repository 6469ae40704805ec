"""For whom a ridge is best: the words used wherever ridges are chosen."""

from typing import Literal, TypeAlias, get_args

from subridge.model.errors import ParameterError

# Each member's own best; one common value, best for the ensemble; one value per member, best together.
Scope: TypeAlias = Literal["member", "ensemble", "joint"]
SCOPES: tuple[Scope, ...] = get_args(Scope)


def check_scope(name: str, value: str) -> None:
    """Refuse a word that is not a scope, naming the argument.

    >>> check_scope("scope", "everyone")
    Traceback (most recent call last):
    subridge.model.errors.ParameterError: scope must be "member", "ensemble" or "joint", got 'everyone'
    """
    if not isinstance(value, str) or value not in SCOPES:
        raise ParameterError(f'{name} must be "member", "ensemble" or "joint", got {value!r}')
