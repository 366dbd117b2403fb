"""Who asks, where, and how patiently."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Final, Literal

import httpx

from ._request import without_secrets

LOCAL = "http://127.0.0.1:4310"
"""Default address of `svc dev` and `svc serve`."""

LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100)
"""Each stream that is read has a connection of its own."""

log = logging.getLogger("svc_agents")


class NotGiven:
    """Stands for an argument that is absent where None means something."""

    def __repr__(self) -> Literal["NOT_GIVEN"]:
        return "NOT_GIVEN"


NOT_GIVEN: Final = NotGiven()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    base_url: str
    timeout: float
    """Seconds, of a call with its repetitions."""
    max_retries: int
    max_retry_after: float
    """Seconds. A longer `Retry-After` is not waited for: the failure is raised at once."""


class KeyAuth(httpx.Auth):
    """Puts the key into a request when it leaves, so that neither a repr nor the variables of a stack frame have it."""

    def __init__(self, api_key: str | None) -> None:
        self._api_key = api_key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._api_key is not None:
            request.headers["X-API-Key"] = self._api_key
        yield request

    def __repr__(self) -> str:
        return "KeyAuth(***)"


NO_KEY: Final = KeyAuth(None)
"""For addresses that are not the server's; without it, httpx would look for a password in `.netrc`."""


def key_of(api_key: str | None | NotGiven, has_own_http: bool) -> KeyAuth:
    found = os.environ.get("SVC_API_KEY") if isinstance(api_key, NotGiven) else api_key
    if found is None and not (has_own_http and not isinstance(api_key, NotGiven)):
        raise ValueError("An api_key is needed, or SVC_API_KEY in the environment.")
    if found is not None and not re.fullmatch("[!-~]+", found):
        raise ValueError("The api_key is empty, or has a character that no key has, such as a space or a line end.")
    return KeyAuth(found)


def base_url_of(base_url: str | None) -> str:
    address = (base_url or os.environ.get("SVC_URL") or LOCAL).rstrip("/")
    if not re.match("https?://[^/?#]", address, re.IGNORECASE):
        raise ValueError(f"base_url must begin with http:// or https://: {address}")
    return address


class _WithoutSecrets(logging.Filter):
    """httpx logs whole addresses; that of an upload is signed, and that of a completion has its token."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_hidden(each) if isinstance(each, (str, httpx.URL)) else each for each in record.args)
        return True


def _hidden(address: str | httpx.URL) -> str | httpx.URL:
    shown = without_secrets(str(address))
    return address if shown == str(address) else shown


# Older versions log under the name of a module.
for name in ("httpx", "httpx._client"):
    logging.getLogger(name).addFilter(_WithoutSecrets())
