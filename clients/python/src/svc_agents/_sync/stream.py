# Written by scripts/python.js from _async/stream.py.
"""The events of a run, resumed where the connection breaks."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from time import monotonic
from types import TracebackType

import httpx

from .._events import FrameParser, Position, event_of
from .._request import Request
from .._retry import retry_after_of, retry_delay
from .._settings import log
from ..errors import SvcConnectionError, SvcError, SvcTimeoutError, is_refusal
from ..types import StreamEvent
from .connection import MOST_BYTES_OF_AN_ERROR, Connection, read_body, status_error_of
from .platform import sleep

IDLE = 45.0
"""Seconds. The server sends a comment every 15 s; after three missed ones the connection counts as lost."""
FRUITLESS = 10
"""Attempts in a row that bring nothing, after which a stream that once ran is given up: about a minute."""

LONGEST_WAIT = 60.0
"""Seconds between two attempts, whatever the server asks."""


class EventStream:
    """
    Each event once and in order, to the end of the run. `with` closes the connection wherever the block is left;
    `last_event_id` is where another stream goes on.
    """

    def __init__(
        self,
        connection: Connection,
        request: Request,
        run_id: str,
        last_event_id: str | None,
        reconnect: bool,
        deadline: float,
    ) -> None:
        self._position = Position(run_id, last_event_id)
        # The generator does not know the stream: a stream that nobody holds is closed at once.
        self._events = _follow(connection, request, self._position, reconnect, deadline)

    @property
    def last_event_id(self) -> str | None:
        return self._position.last_event_id

    def __iter__(self) -> Iterator[StreamEvent]:
        return self

    def __next__(self) -> StreamEvent:
        return self._events.__next__()

    def close(self) -> None:
        self._events.close()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _follow(
    connection: Connection, request: Request, position: Position, reconnect: bool, deadline: float
) -> Generator[StreamEvent, None, None]:
    """
    Reconnects with `Last-Event-ID` and drops repeated events by id. Ends after the terminal event of the run (of the session, for a
    root run), or when the server answers 204 for a stream without more events.
    """
    fruitless = 0
    attempt = 0
    server_retry: float | None = None
    closed_after_end = False
    while True:
        attempt += 1
        failure: SvcError
        try:
            with connection.open(_resumed(request, position), attempt, _idle(request, deadline)) as response:
                if response.status_code == 204:
                    return
                _refuse_other(request, response)
                parser = FrameParser(request.shown)
                for chunk in response.iter_bytes():
                    if monotonic() > deadline:
                        raise _late(request)
                    for frame in parser.feed(chunk):
                        fruitless = 0
                        if frame.retry is not None:
                            server_retry = frame.retry
                        if frame.data is None or not position.is_new(frame.id):
                            continue
                        event = event_of(frame.data, request.shown)
                        position.take(frame.id, event)
                        yield event
                        if position.has_ended:
                            return
            if position.has_seen_own_end:
                # Only the stream of a root may continue after this. If the next connection adds nothing, it was not a root.
                if closed_after_end or not reconnect:
                    return
                closed_after_end = True
            failure = SvcConnectionError(f"The stream of {request.shown} was cut.", request.shown)
        except SvcError as error:
            failure = error
        fruitless += 1
        has_run = position.last_event_id is not None and not position.has_seen_own_end
        patience = FRUITLESS if has_run else connection.settings.max_retries
        if not reconnect or fruitless > patience or is_refusal(failure) or monotonic() > deadline:
            if position.has_seen_own_end:
                return
            raise failure
        asked = retry_after_of(failure)
        if asked is None and fruitless == 1:
            asked = server_retry
        wait = retry_delay(fruitless + 1) if asked is None else min(asked, LONGEST_WAIT)
        log.info("The stream of %s is opened again in %.1f s: %s", request.shown, wait, failure)
        sleep(min(wait, max(0.0, deadline - monotonic())))


def _refuse_other(request: Request, response: httpx.Response) -> None:
    kind = response.headers.get("content-type", "")
    if response.is_success and (not kind or kind.startswith("text/event-stream")):
        return
    body = read_body(request, response, MOST_BYTES_OF_AN_ERROR, monotonic() + IDLE)
    raise status_error_of(request, response, body)


def _resumed(request: Request, position: Position) -> Request:
    if position.last_event_id is None:
        return request
    return Request(
        method=request.method,
        path=request.path,
        headers={**request.headers, "Last-Event-ID": position.last_event_id},
    )


def _idle(request: Request, deadline: float) -> float:
    if monotonic() > deadline:
        raise _late(request)
    return min(IDLE, max(0.001, deadline - monotonic()))


def _late(request: Request) -> SvcTimeoutError:
    return SvcTimeoutError(f"The time to follow {request.shown} is up.", request.shown)
