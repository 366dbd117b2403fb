from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .halves import Half
from .places import place

Connect = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
def half(request: pytest.FixtureRequest) -> Iterator[Half]:
    made = Half(request.param)
    yield made
    made.close()


@pytest.fixture
def connect(half: Half) -> Connect:
    """A client for an agent; `url` where a proxy stands before its server."""

    def connected(name: str, url: str | None = None, **options: Any) -> Any:
        at = place(name)
        return half.client(api_key=at.key, base_url=url or at.url, **options)

    return connected


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts are as long as the server says, else short."""
    for module in ("svc_agents._sync.connection", "svc_agents._async.connection", "svc_agents._sync.stream", "svc_agents._async.stream"):
        monkeypatch.setattr(f"{module}.retry_delay", lambda attempt: 0.01)
