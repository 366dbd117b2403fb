"""The key, the signature of an upload address and the token of a completion are shown by nothing."""

from __future__ import annotations

import logging
import pickle
import sys
import traceback
from typing import Any

import httpx
import pytest

from svc_agents import AsyncSvc, NotFoundError, Svc, SvcConnectionError, SvcStatusError
from svc_agents._request import Request

from .conftest import Connect
from .faulty import FaultyProxy, cut
from .places import place

KEY = "svc_0123456789abcdefghijABCDEFGHIJ0123456789"
TOKEN = "tok-very-secret"


def everything_of(error: BaseException) -> str:
    """What trackers of errors send: the traceback with the variables of each frame, and the error itself."""
    shown = [repr(error), str(error), repr(vars(error))]
    for each in traceback.TracebackException.from_exception(error, capture_locals=True).format():
        shown.append(each)
    return "\n".join(shown)


def test_no_repr_shows_the_key() -> None:
    with Svc(api_key=KEY, base_url="http://svc.test") as client:
        assert repr(client) == "Svc(base_url='http://svc.test')"
        assert KEY not in repr(vars(client))
        assert KEY not in repr(client._connection)
    assert repr(AsyncSvc(api_key=KEY)) == "AsyncSvc(base_url='http://127.0.0.1:4310')"
    request = Request(method="POST", path=f"/v1/completions/{TOKEN}?a=1", headers={"a": TOKEN}, content=TOKEN.encode())
    assert repr(request) == "Request(method='POST', idempotency_key=None)"
    assert request.shown == "/v1/completions/***"


def test_no_error_and_no_variable_on_its_way_has_the_key(connect: Connect, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    with FaultyProxy(place("chat").url, cut(), cut(), cut()) as proxy:
        client = connect("chat", proxy.url)
        with pytest.raises(SvcConnectionError) as broken:
            client.get_run("r")
        with pytest.raises(NotFoundError) as missing:
            client.complete_call(TOKEN, result=1)
    key = place("chat").key
    for error in (broken.value, missing.value):
        own = [frame for frame in everything_of(error).split("  File ") if "/svc_agents/" in frame.partition("\n")[0]]
        assert own and key not in "".join(own)
    assert missing.value.path == "/v1/completions/***"
    assert TOKEN not in str(missing.value) + repr(vars(missing.value))
    assert key not in caplog.text and TOKEN not in caplog.text


def test_the_log_of_httpx_has_no_signed_address(connect: Connect, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    connect("desk").upload_workspace_file(b"x", filename="x.txt")
    logged = [each for each in caplog.messages if "PUT" in each and "http" in each]
    assert logged and all("X-Amz-Signature=***" in each for each in logged if "X-Amz" in each)
    assert not any("X-Amz-Signature=" in each and "X-Amz-Signature=***" not in each for each in caplog.messages)


def test_a_key_is_sent_to_the_server_and_nowhere_else() -> None:
    sent: list[tuple[str, str | None]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append((request.url.host, request.headers.get("x-api-key")))
        body = {
            "objectKey": "w/f/a.txt",
            "uploadUrl": "http://storage.test/a?X-Amz-Signature=s",
            "httpMethod": "PUT",
            "requiredHeaders": {"Content-Type": "text/plain"},
            "expiresInSeconds": 60,
        }
        return httpx.Response(200, json=body)

    http = httpx.Client(transport=httpx.MockTransport(answer), auth=("user", "password"))
    client = Svc(api_key=KEY, base_url="http://svc.test", http_client=http)
    client.upload_workspace_file(b"x", filename="a.txt")
    assert sent == [("svc.test", KEY), ("storage.test", None), ("svc.test", KEY)]


def test_a_client_without_a_key_is_one_whose_http_client_identifies_the_caller(monkeypatch: Any) -> None:
    monkeypatch.delenv("SVC_API_KEY", raising=False)
    for options in ({}, {"api_key": None}, {"api_key": ""}, {"api_key": "svc_a\n"}, {"api_key": "ключ"}):
        with pytest.raises(ValueError, match="api_key"):
            Svc(**options)  # type: ignore[arg-type]
    seen: list[httpx.Headers] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers)
        return httpx.Response(200, json={"runId": "r"})

    http = httpx.Client(transport=httpx.MockTransport(answer))
    Svc(api_key=None, http_client=http).get_run("r")
    assert "x-api-key" not in seen[0]
    monkeypatch.setenv("SVC_API_KEY", KEY)
    monkeypatch.setenv("SVC_URL", "http://svc.test/")
    from_environment = Svc(http_client=http)
    from_environment.get_run("r")
    assert (seen[1]["x-api-key"], seen[1]["host"], seen[1]["x-svc-client"]) == (KEY, "svc.test", "python/0.1.0")


@pytest.mark.parametrize("address", ["svc.test", "ftp://svc.test", "http://", "/v1"])
def test_an_address_that_is_none_is_refused_at_once(address: str) -> None:
    with pytest.raises(ValueError, match="base_url must begin with"):
        Svc(api_key=KEY, base_url=address)


@pytest.mark.parametrize("identifier", ["", ".", ".."])
def test_an_id_that_would_lead_to_another_route_is_refused(identifier: str) -> None:
    with Svc(api_key=KEY) as client, pytest.raises(ValueError, match="is not an id"):
        client.get_run(identifier)


def test_values_that_json_has_not_are_refused_before_anything_is_sent() -> None:
    with Svc(api_key=KEY, base_url="http://127.0.0.1:9") as client:
        with pytest.raises(ValueError):
            client.start_run("a", {"amount": float("nan")})
        with pytest.raises(TypeError):
            client.start_run("a", {"key": {1, 2}})


def test_errors_travel_between_processes() -> None:
    error = NotFoundError(method="GET", status=404, path="/v1/runs/r", body='{"code":"not_found","requestId":"q"}')
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.code, again.request_id) == (NotFoundError, str(error), "not_found", "q")
    cause = pickle.loads(pickle.dumps(SvcConnectionError("cut", "/v1", sent=False, idempotency_key="k")))
    assert (str(cause), cause.sent, cause.idempotency_key) == ("cut", False, "k")
    assert isinstance(again, SvcStatusError) and sys.getrefcount(again) > 0
