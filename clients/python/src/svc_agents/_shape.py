"""What all that the server sends has in common, and how JSON is read into it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An object that the server sent. `raw` has it as it came: also the fields that this client does not know."""

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


S = TypeVar("S", bound=Shape)
Reader = Callable[[object], Any]
Fields = tuple[tuple[str, str, "Reader | None"], ...]

READERS: dict[type[Shape], Fields] = {}


def fields(plain: str, **read: Reader) -> Fields:
    """The fields of a class: those whose values are taken as they come, then those that are read."""
    rows: list[tuple[str, Reader | None]] = [(wire, None) for wire in plain.split()]
    rows.extend(read.items())
    return tuple((re.sub("[A-Z]", lambda found: "_" + str(found[0]).lower(), wire), wire, reader) for wire, reader in rows)


def read_shape(shape: type[S], value: Mapping[str, Any]) -> S:
    """Never fails: a server that is older or newer than this client sends less or more, and words that are not known here."""
    given: dict[str, Any] = {}
    for name, wire, reader in READERS[shape]:
        there = value.get(wire)
        given[name] = there if reader is None else reader(there)
    return shape(raw=value, **given)


def one(shape: type[S]) -> Callable[[object], S | None]:
    return lambda value: read_shape(shape, value) if isinstance(value, dict) else None


def many(reader: Reader | None = None) -> Callable[[object], tuple[Any, ...]]:
    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            return ()
        if reader is None:
            return tuple(value)
        return tuple(each for each in map(reader, value) if each is not None)

    return read


@dataclass(frozen=True)
class Union:
    """Classes by the value of one property, and the one that stands for every other value."""

    key: str
    other: type[Shape]
    variants: Mapping[str, type[Shape]]


def one_of(union: Union) -> Callable[[object], Shape | None]:
    def read(value: object) -> Shape | None:
        if not isinstance(value, dict):
            return None
        kind = value.get(union.key)
        return read_shape(union.variants.get(kind, union.other) if isinstance(kind, str) else union.other, value)

    return read
