"""Sends requests, again where nothing can happen twice, and reads their answers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

import httpx

from .._readers import read_shape
from .._request import CLIENT, JSON_TYPE, Request
from .._retry import may_repeat, parse_retry_after, retry_after_of, retry_delay
from .._settings import NO_KEY, KeyAuth, Settings, log
from ..errors import SvcConnectionError, SvcError, SvcStatusError, SvcTimeoutError, status_error
from ..types import Shape
from .platform import fail_after, shielded, sleep

MOST_BYTES = 256 * 1024 * 1024
"""Of an answer; the server's own have at most 8 MiB, but for an output."""
MOST_BYTES_OF_AN_ERROR = 64 * 1024

S = TypeVar("S", bound=Shape)
AsyncContent = Callable[[], AsyncIterator[bytes]]


@dataclass(frozen=True, slots=True)
class AsyncConnection:
    http: httpx.AsyncClient
    auth: KeyAuth
    settings: Settings

    async def call(self, request: Request, *, timeout: float | None = None, max_retries: int | None = None) -> Any:
        """The answer as JSON; None where it is empty."""
        body = await self.send(request, timeout=timeout, max_retries=max_retries)
        try:
            return json.loads(body) if body else None
        except (ValueError, RecursionError):
            text = body[:MOST_BYTES_OF_AN_ERROR].decode("utf-8", "replace")
            raise SvcStatusError(
                method=request.method, status=200, path=request.shown, body=text, idempotency_key=request.idempotency_key
            ) from None

    async def ask(
        self,
        shape: type[S],
        request: Request,
        *,
        held: int | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
    ) -> S:
        """:param held: seconds that the server was asked to wait, which do not count"""
        seconds = (self.settings.timeout if timeout is None else timeout) + (held or 0)
        answer = await self.call(request, timeout=seconds, max_retries=max_retries)
        if not isinstance(answer, dict):
            raise SvcStatusError(method=request.method, status=200, path=request.shown, body=json.dumps(answer))
        return read_shape(shape, answer)

    async def send(
        self,
        request: Request,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        content: AsyncContent | None = None,
    ) -> bytes:
        seconds = self.settings.timeout if timeout is None else timeout
        retries = self.settings.max_retries if max_retries is None else max_retries
        deadline = monotonic() + seconds
        attempt = 1
        while True:
            try:
                return await self._once(request, attempt, deadline, seconds, content)
            except SvcError as error:
                asked = retry_after_of(error)
                wait = retry_delay(attempt + 1) if asked is None else asked
                # Waiting beyond the time limit is useless, and this failure says more than a timeout.
                is_late = monotonic() + wait >= deadline or (asked or 0) > self.settings.max_retry_after
                if attempt > retries or is_late or not may_repeat(request.method, _is_repeatable(request), error):
                    raise
                log.info("%s %s is sent again in %.1f s: %s", request.method, request.shown, wait, error)
            await sleep(wait)
            attempt += 1

    async def _once(
        self, request: Request, attempt: int, deadline: float, seconds: float, content: AsyncContent | None
    ) -> bytes:
        try:
            with fail_after(max(0.001, deadline - monotonic())):
                async with self.open(request, attempt, max(0.001, deadline - monotonic()), content) as response:
                    most = MOST_BYTES if response.is_success else MOST_BYTES_OF_AN_ERROR
                    body = await read_body(request, response, most, deadline)
        except TimeoutError as error:
            raise SvcTimeoutError(
                f"{request.shown} did not answer within {seconds:g} s.",
                request.shown,
                sent=not isinstance(error, SvcTimeoutError) or error.sent,
                idempotency_key=request.idempotency_key,
            ) from None
        if not response.is_success:
            raise status_error_of(request, response, body)
        return body

    @asynccontextmanager
    async def open(
        self, request: Request, attempt: int, seconds: float, content: AsyncContent | None = None
    ) -> AsyncIterator[httpx.Response]:
        """One attempt up to the headers, then whatever reads the body."""
        is_ours = request.path.startswith("/")
        sent = self.http.build_request(
            request.method,
            f"{self.settings.base_url}{request.path}" if is_ours else request.path,
            headers={**({"Accept": JSON_TYPE, "x-svc-client": CLIENT} if is_ours else {}), **request.headers},
            content=request.content if content is None else content(),
            timeout=httpx.Timeout(seconds),
        )
        started = monotonic()
        try:
            # A redirect would carry the key to wherever it points: it is a failing status like others.
            response = await self.http.send(
                sent, auth=self.auth if is_ours else NO_KEY, stream=True, follow_redirects=False
            )
            try:
                log.debug(
                    "%s %s answered %d in %.0f ms (attempt %d, request %s)",
                    request.method,
                    request.shown,
                    response.status_code,
                    (monotonic() - started) * 1000,
                    attempt,
                    response.headers.get("x-request-id"),
                )
                yield response
            finally:
                with shielded():
                    await response.aclose()
        except (httpx.TransportError, httpx.DecodingError, httpx.StreamError) as error:
            raise connection_error_of(request, error) from None


async def read_body(request: Request, response: httpx.Response, most: int, deadline: float) -> bytes:
    """The body; only its beginning where it says what failed."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if monotonic() > deadline:
            raise TimeoutError
        if len(body) <= most:
            continue
        if response.is_success:
            raise SvcConnectionError(f"The answer of {request.shown} has more than {most} bytes.", request.shown)
        return bytes(body[:most])
    return bytes(body)


def status_error_of(request: Request, response: httpx.Response, body: bytes) -> SvcStatusError:
    return status_error(
        method=request.method,
        status=response.status_code,
        path=request.shown,
        body=body.decode("utf-8", "replace"),
        request_id=response.headers.get("x-request-id"),
        retry_after=parse_retry_after(response.headers.get("retry-after")),
        idempotency_key=request.idempotency_key,
    )


def connection_error_of(request: Request, error: Exception) -> SvcConnectionError:
    """The error of httpx is not its cause: it has the request, and with it the key."""
    never_sent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
    kind = SvcTimeoutError if isinstance(error, httpx.TimeoutException) else SvcConnectionError
    why = str(error) or type(error).__name__
    return kind(
        f"No answer from {request.method} {request.shown}: {why}",
        request.shown,
        sent=not never_sent,
        idempotency_key=request.idempotency_key,
    )


def _is_repeatable(request: Request) -> bool:
    return request.idempotency_key is not None
