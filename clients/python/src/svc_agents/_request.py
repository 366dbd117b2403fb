"""Requests as values: what both halves of the client send."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from ._version import __version__

JSON_TYPE = "application/json"
CLIENT = f"python/{__version__}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Its repr shows neither a header nor what is sent."""

    method: str
    path: str = field(repr=False)
    """With its query, or a whole address."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    content: bytes | None = field(default=None, repr=False)
    idempotency_key: str | None = None
    """The server recognises a repetition, so that a broken connection is no reason to give up."""

    @property
    def shown(self) -> str:
        """The path without query, and without what is as good as a key: for errors and logs."""
        return without_secrets(re.sub(r"^https?://[^/]*|\?.*$", "", self.path))


def request_of(
    method: str,
    path: str,
    *,
    query: Mapping[str, object] | None = None,
    headers: Mapping[str, str | None] | None = None,
    body: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
) -> Request:
    given = {name: str(value) for name, value in (query or {}).items() if value is not None}
    sent = {name: value for name, value in (headers or {}).items() if value is not None}
    if idempotency_key is not None:
        sent["Idempotency-Key"] = idempotency_key
    if body is not None:
        sent["Content-Type"] = JSON_TYPE
    return Request(
        method=method,
        path=f"{path}?{urlencode(given)}" if given else path,
        headers=sent,
        content=None if body is None else to_json(body),
        idempotency_key=idempotency_key,
    )


def without_none(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


def waiting(seconds: int | None) -> dict[str, str | None]:
    return {"Prefer": None if seconds is None else f"wait={seconds}"}


def segment(identifier: str) -> str:
    """An id as a segment of a path."""
    # `.` and `..` would be taken out of the path again, and another route called.
    if identifier in ("", ".", ".."):
        raise ValueError(f'"{identifier}" is not an id.')
    return quote(identifier, safe="")


def to_json(value: Mapping[str, Any]) -> bytes:
    """
    :raises ValueError: for NaN and infinity, which JSON has not
    :raises TypeError: for a value that is not JSON, such as a Decimal or a datetime: send it as text
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can carry
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()


_SECRET = re.compile(r"([?&]X-Amz-[^=]*=|/v1/completions/)[^&?]*", re.IGNORECASE)


def without_secrets(address: str) -> str:
    """Without the signature of an upload address, and the token of a completion, which is all that it takes to end its call."""
    return _SECRET.sub(r"\1***", address)
