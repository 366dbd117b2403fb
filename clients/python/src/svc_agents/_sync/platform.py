"""What the two halves of the client do differently; see `_async/platform.py`."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import IO, TypeAlias, TypeVar

A = TypeVar("A")
T = TypeVar("T")
Handler: TypeAlias = Callable[[A], T]


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def fail_after(seconds: float) -> AbstractContextManager[object]:
    """Nothing can be interrupted here: the time is looked at whenever bytes arrive, and httpx bounds the wait for them."""
    return nullcontext()


def shielded() -> AbstractContextManager[object]:
    return nullcontext()


def given(value: T) -> T:
    return value


def read_chunk(file: IO[bytes], size: int) -> bytes:
    return file.read(size)
