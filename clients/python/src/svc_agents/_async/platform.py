"""What the two halves of the client do differently. The other is `_sync/platform.py`; everything else of it is written from here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from inspect import isawaitable
from typing import IO, TypeAlias, TypeVar, cast

import anyio
import anyio.to_thread

A = TypeVar("A")
T = TypeVar("T")
Handler: TypeAlias = Callable[[A], T | Awaitable[T]]
"""What callers give: a function or a coroutine."""


async def sleep(seconds: float) -> None:
    await anyio.sleep(seconds)


def fail_after(seconds: float) -> AbstractContextManager[object]:
    """:raises TimeoutError: where what is inside takes longer"""
    return anyio.fail_after(seconds)


def shielded() -> AbstractContextManager[object]:
    """What is inside is done although the task was cancelled: connections are closed, in seconds."""
    return anyio.move_on_after(5, shield=True)


async def given(value: T | Awaitable[T]) -> T:
    return cast(T, await value) if isawaitable(value) else cast(T, value)


async def read_chunk(file: IO[bytes], size: int) -> bytes:
    return await anyio.to_thread.run_sync(file.read, size)
