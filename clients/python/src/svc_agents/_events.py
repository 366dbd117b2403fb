"""Server-sent events: frames of bytes, and the position of a reader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from ._readers import STREAM_EVENT, one_of
from .errors import SvcConnectionError, SvcStatusError
from .types import StreamEvent

_MOST_BYTES = 64 * 1024 * 1024
"""Of one frame. An answer of the server has at most 8 MiB."""

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_ENDED = re.compile(r"engine\.(?:run|session)\.(?:completed|failed|cancelled)")
_read_event = one_of(STREAM_EVENT)


@dataclass(frozen=True, slots=True)
class Frame:
    id: str | None = None
    data: str | None = None
    """None for a comment or a `retry:` line, which say that the connection lives."""
    retry: float | None = None


class FrameParser:
    """Bytes in, frames out, wherever the bytes were cut."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._rest = bytearray()
        self._data: list[str] = []
        self._id: str | None = None
        self._size = 0
        self._began = False

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        # Found again at each chunk, a line that never ends would take quadratic time.
        if not re.search(rb"[\r\n]", chunk) and not self._rest.endswith(b"\r"):
            self._keep(chunk)
            return
        *lines, rest = _LINE_END.split(bytes(self._rest) + chunk)
        self._rest = bytearray(rest)
        for line in lines:
            if not self._began:
                line = line.removeprefix(b"\xef\xbb\xbf")
                self._began = True
            frame = self._take(line)
            if frame is not None:
                yield frame

    def _keep(self, chunk: bytes) -> None:
        self._rest += chunk
        self._bound(len(self._rest))

    def _bound(self, more: int) -> None:
        if self._size + more > _MOST_BYTES:
            raise SvcConnectionError(f"An event of {self._path} is larger than {_MOST_BYTES} bytes.", self._path)

    def _take(self, line: bytes) -> Frame | None:
        if not line:
            data, self._data, self._size = self._data, [], 0
            return Frame(id=self._id, data="\n".join(data)) if data else None
        self._bound(len(line))
        name, _, text = line.decode("utf-8", "replace").partition(":")
        text = text.removeprefix(" ")
        if name == "":
            return Frame()
        if name == "data":
            self._data.append(text)
            self._size += len(line)
        elif name == "id" and "\0" not in text:
            self._id = text
        elif name == "retry" and re.fullmatch("[0-9]{1,9}", text):
            return Frame(retry=int(text) / 1000)
        return None


class Position:
    """What a reader has received, and whether the last of it ends the stream."""

    def __init__(self, run_id: str, last_event_id: str | None) -> None:
        self.last_event_id = last_event_id
        self.has_ended = False
        self.has_seen_own_end = False
        self._run_id = run_id
        self._root_run_id: str | None = None

    def is_new(self, event_id: str | None) -> bool:
        if event_id is None or self.last_event_id is None:
            return True
        if _is_number(event_id) and _is_number(self.last_event_id):
            return int(event_id) > int(self.last_event_id)
        return event_id != self.last_event_id

    def take(self, event_id: str | None, event: StreamEvent) -> None:
        if event_id is not None:
            self.last_event_id = event_id
        run_id = run_of(event)
        if event.subject == "engine.session.started":
            self._root_run_id = run_id
        if not _ENDED.fullmatch(event.subject):
            return
        if event.kind == "session":
            self.has_ended = True
        elif run_id == self._run_id:
            self.has_seen_own_end = True
            # The session's own end follows for a root; a stream that began later does not know which it is.
            if self._root_run_id is not None and self._root_run_id != self._run_id:
                self.has_ended = True


def run_of(event: StreamEvent) -> str | None:
    data = event.raw.get("data")
    run_id = data.get("runId") if isinstance(data, dict) else None
    return run_id if isinstance(run_id, str) else None


def event_of(data: str, path: str) -> StreamEvent:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    event = _read_event(value)
    if event is None or not isinstance(value.get("subject"), str):
        raise SvcStatusError(method="GET", status=200, path=path, body=data)
    return cast(StreamEvent, event)


def _is_number(text: str) -> bool:
    return re.fullmatch("[0-9]{1,18}", text) is not None
