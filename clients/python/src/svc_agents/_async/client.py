"""The client."""

from __future__ import annotations

from types import TracebackType

import httpx

from .._settings import LIMITS, NOT_GIVEN, NotGiven, Settings, base_url_of, key_of
from .connection import AsyncConnection
from .follow import AsyncFollowing
from .sessions import AsyncSessions
from .upload import AsyncFiles


class AsyncSvc(AsyncFollowing, AsyncSessions, AsyncFiles):
    """
    The HTTP API of svc, one method per route, and what combines several. For backends: who has a key has all that it allows.

    Every method raises `SvcStatusError` for a failing status, `SvcConnectionError` and `SvcTimeoutError`; all are `SvcError`.
    """

    def __init__(
        self,
        *,
        api_key: str | None | NotGiven = NOT_GIVEN,
        base_url: str | None = None,
        timeout: float = 60.0,
        max_retries: int = 2,
        max_retry_after: float = float("inf"),
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        """
        :param api_key: `svc_…`; `SVC_API_KEY` of the environment when absent. None sends none: `http_client` identifies the caller.
        :param base_url: without `/v1`; `SVC_URL` of the environment when absent, else http://127.0.0.1:4310
        :param timeout: seconds of a call with its repetitions, beyond those that the server is asked to wait. Streams end only by
            silence, uploads with their address.
        :param max_retry_after: seconds; a longer `Retry-After` is not waited for: the failure is raised at once
        :param http_client: used for everything, uploads included, and not closed here
        """
        settings = Settings(
            base_url=base_url_of(base_url), timeout=timeout, max_retries=max_retries, max_retry_after=max_retry_after
        )
        auth = key_of(api_key, http_client is not None)
        http = httpx.AsyncClient(limits=LIMITS) if http_client is None else http_client
        self._owned = http if http_client is None else None
        self._connection = AsyncConnection(http, auth, settings)

    def with_options(self, *, timeout: float | None = None, max_retries: int | None = None) -> AsyncSvc:
        """The same client, over the same connections, with other bounds: `client.with_options(timeout=5).get_run(…)`."""
        before = self._connection.settings
        settings = Settings(
            base_url=before.base_url,
            timeout=before.timeout if timeout is None else timeout,
            max_retries=before.max_retries if max_retries is None else max_retries,
            max_retry_after=before.max_retry_after,
        )
        other = object.__new__(type(self))
        other._owned = None
        other._connection = AsyncConnection(self._connection.http, self._connection.auth, settings)
        return other

    async def aclose(self) -> None:
        """Closes the connections, unless they are those of an `http_client` of yours."""
        if self._owned is not None:
            await self._owned.aclose()

    async def __aenter__(self) -> AsyncSvc:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncSvc(base_url={self._connection.settings.base_url!r})"
