"""Runs a test with each half of the client: the methods of the asynchronous one are called as if they were not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

from svc_agents import AsyncSvc, Svc


class Blocking:
    """An asynchronous object, used from synchronous code, on one loop."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*args: Any, **named: Any) -> Any:
            return self._done(found(*args, **named))

        return call

    def _done(self, value: Any) -> Any:
        if inspect.iscoroutine(value):
            return self._loop.run_until_complete(value)
        if isinstance(value, (AsyncIterator, AsyncSvc)):
            return Blocking(value, self._loop)
        return value

    def __iter__(self) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(self._inner.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run_until_complete(self._inner.aclose())

    def close(self) -> None:
        self._loop.run_until_complete(self._inner.aclose())


class Half:
    """Makes clients of one half, and closes them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.new_event_loop()
        self._made: list[Any] = []

    def client(self, **options: Any) -> Any:
        made = Svc(**options) if self._name == "sync" else Blocking(AsyncSvc(**options), self._loop)
        self._made.append(made)
        return made

    def close(self) -> None:
        for each in self._made:
            each.close()
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
