"""What goes wrong between the client and a server: connections that are cut, servers that are full, silent, away or start again."""

from __future__ import annotations

import io
import json
import threading
import time
import urllib.request
from typing import Any

import pytest

from svc_agents import (
    InputContractViolationError,
    NotFoundError,
    ServiceUnavailableError,
    SvcConnectionError,
    SvcStatusError,
    SvcTimeoutError,
    types,
)

from .conftest import Connect
from .faulty import FaultyProxy, answer, cut, lose_answer, silent, stream, through
from .places import place

ORDER = {"order": "A-1042", "amount": 180}
HELLO = {"message": "hello"}
FULL = b'{"error":"Too many starts.","code":"rate_limited","requestId":"r-1"}'


def test_a_stream_that_is_cut_again_and_again_gives_each_event_once(connect: Connect) -> None:
    at = place("chat")
    run = connect("chat").run_to_end(at.agent, HELLO)
    whole = [event.raw for event in connect("chat").stream_run_events(run.run_id)]
    # Each connection brings a little more than the head of the answer and one event.
    with FaultyProxy(at.url, *[through(900 + 37 * n) for n in range(3)]) as proxy:
        events = connect("chat", proxy.url).stream_run_events(run.run_id)
        assert [event.raw for event in events] == whole
        resumed = [int(each) for each in proxy.heads("last-event-id")]
        assert len(resumed) > 1 and resumed == sorted(resumed)


def test_what_a_server_repeats_after_a_cut_is_dropped(connect: Connect) -> None:
    def frame(number: int, subject: str) -> str:
        event = {"ts": "t", "kind": "session", "subject": subject, "data": {"sessionId": "s", "runId": "r"}}
        return f"id: {number}\ndata: {json.dumps(event)}\n\n"

    words = ["started", "paused", "resumed", "completed"]
    frames = [frame(number + 1, f"engine.session.{word}") for number, word in enumerate(words)]
    first, again = stream("retry: 1\n\n" + "".join(frames[:2])), stream("".join(frames[1:]))
    with FaultyProxy(place("chat").url, first, again) as proxy:
        events = connect("chat", proxy.url).stream_run_events("r")
        assert [event.subject for event in events] == [f"engine.session.{word}" for word in words]
        assert proxy.heads("last-event-id") == ["2"]


def test_a_stream_that_may_not_reconnect_ends_with_the_first_cut(connect: Connect) -> None:
    at = place("desk")
    started = connect("desk").start_run(at.agent, ORDER, wait_seconds=20)
    with FaultyProxy(at.url, through(1500)) as proxy:
        events = connect("desk", proxy.url).stream_run_events(started.run_id, reconnect=False)
        with pytest.raises(SvcConnectionError):
            for _ in events:
                pass
        assert len(proxy.requests) == 1


def test_events_that_this_client_does_not_know_are_kept(connect: Connect) -> None:
    event = '{"ts":"t","kind":"weather","subject":"engine.weather.changed","data":{"sky":"größer 😀\\u2028"},"more":[1]}'
    end = '{"ts":"t","kind":"session","subject":"engine.session.completed","data":{"sessionId":"s","runId":"r","status":"Rejoiced"}}'
    frames = f"\ufeff: hello\r\nretry: 1\r\n\r\nid: 1\rdata: {event}\r\rid: 2\ndata: {end}\n\nid: 3\ndata: {event}\n\n"
    with FaultyProxy(place("chat").url, stream(frames)) as proxy:
        odd, last = connect("chat", proxy.url).stream_run_events("r")
    assert isinstance(odd, types.OtherStreamEvent)
    assert (odd.subject, odd.data, odd.raw["more"]) == ("engine.weather.changed", {"sky": "größer 😀\u2028"}, [1])
    assert isinstance(last, types.SessionEvent) and last.data.status == "Rejoiced"


@pytest.mark.parametrize("frame", ["data: <html>\n\n", "data: [1]\n\n", 'data: {"kind":"run"}\n\n'])
def test_an_event_that_is_none_is_named_and_not_asked_for_again(connect: Connect, frame: str) -> None:
    with FaultyProxy(place("chat").url, stream(frame), stream(frame)) as proxy:
        with pytest.raises(SvcStatusError, match="GET /v1/runs/r/stream answered 200") as error:
            list(connect("chat", proxy.url).stream_run_events("r"))
        assert (error.value.body, len(proxy.requests)) == (frame[6:-2], 1)


def test_a_start_is_repeated_after_429_and_503_as_late_as_the_server_asks(connect: Connect) -> None:
    at = place("chat")
    full = answer("429 Too Many Requests", "Retry-After: 0", body=FULL)
    with FaultyProxy(at.url, full, answer("503 Service Unavailable", "Retry-After: 1")) as proxy:
        began = time.monotonic()
        started = connect("chat", proxy.url).start_run(at.agent, HELLO)
        assert time.monotonic() - began >= 1
        assert connect("chat").get_run(started.run_id).run_id == started.run_id
        assert len(set(proxy.heads("idempotency-key"))) == 1


def test_a_server_that_asks_for_more_time_than_there_is_is_not_waited_for(connect: Connect) -> None:
    with FaultyProxy(place("chat").url, answer("503 Service Unavailable", "Retry-After: 3600")) as proxy:
        with pytest.raises(ServiceUnavailableError) as error:
            connect("chat", proxy.url, timeout=5).start_run(place("chat").agent, HELLO)
        assert (error.value.retry_after, len(proxy.requests)) == (3600, 1)


def test_an_answer_that_is_lost_is_asked_for_again_and_nothing_happens_twice(connect: Connect) -> None:
    at = place("chat")
    before = connect("chat").list_sessions(at.agent).total
    with FaultyProxy(at.url, lose_answer()) as proxy:
        started = connect("chat", proxy.url).start_run(at.agent, HELLO)
        assert (started.duplicate_delivery, len(proxy.requests)) == (True, 2)
    assert connect("chat").list_sessions(at.agent).total == before + 1


def test_what_has_no_idempotency_key_is_not_sent_again(connect: Connect) -> None:
    with FaultyProxy(place("chat").url, cut(), cut()) as proxy:
        with pytest.raises(SvcConnectionError) as error:
            connect("chat", proxy.url).cancel_run("r")
        assert (error.value.sent, error.value.path, len(proxy.requests)) == (True, "/v1/runs/r/cancel", 1)


def test_a_get_is_tried_three_times(connect: Connect) -> None:
    with FaultyProxy(place("chat").url, *[cut(), answer("502 Bad Gateway", body=b"<html>"), cut(), cut()]) as proxy:
        with pytest.raises(SvcConnectionError):
            connect("chat", proxy.url).get_run("r")
        assert len(proxy.requests) == 3


def test_a_refusal_is_not_asked_again_and_says_what_is_wrong(connect: Connect) -> None:
    at = place("desk")
    with FaultyProxy(at.url) as proxy:
        client = connect("desk", proxy.url)
        with pytest.raises(InputContractViolationError) as error:
            client.start_run(at.agent, {"order": "A-1042", "amount": "a lot"})
        assert [each.path for each in error.value.details] == ["/input/amount"]
        assert error.value.request_id and error.value.request_id in str(error.value)
        with pytest.raises(NotFoundError, match="not_found"):
            client.get_run("00000000-0000-7000-8000-000000000000")


def test_an_error_of_a_proxy_is_told_by_its_status_alone(connect: Connect) -> None:
    page = b"<html>" + b"x" * 300_000
    with FaultyProxy(place("chat").url, answer("403 Forbidden", body=page)) as proxy:
        with pytest.raises(SvcStatusError, match=r"^GET /v1/runs/r answered 403\.$") as error:
            connect("chat", proxy.url).get_run("r")
    assert len(error.value.body) == 64 * 1024


def test_a_redirect_is_not_followed(connect: Connect) -> None:
    with FaultyProxy(place("chat").url, answer("302 Found", "Location: http://127.0.0.1:9/")) as proxy:
        with pytest.raises(SvcStatusError, match="answered 302"):
            connect("chat", proxy.url).get_run("r")


@pytest.mark.parametrize("body", [b"<html>hello", b"[1]", b"", b"[" * 100_000])
def test_an_answer_that_is_no_object_is_an_error_with_the_body(connect: Connect, body: bytes) -> None:
    with FaultyProxy(place("chat").url, answer("200 OK", body=body)) as proxy:
        with pytest.raises(SvcStatusError, match="answered 200"):
            connect("chat", proxy.url).get_run("r")


def test_a_server_that_never_answers_ends_in_time(connect: Connect) -> None:
    with FaultyProxy(place("chat").url, silent()) as proxy:
        began = time.monotonic()
        with pytest.raises(SvcTimeoutError, match=r"did not answer within 0\.3 s") as error:
            connect("chat", proxy.url).with_options(timeout=0.3).start_run(place("chat").agent, HELLO)
        assert time.monotonic() - began < 5
        assert error.value.idempotency_key == proxy.heads("idempotency-key")[0]
        assert isinstance(error.value, TimeoutError)


def test_a_server_that_nobody_listens_at_is_told_apart(connect: Connect) -> None:
    with pytest.raises(SvcConnectionError) as error:
        connect("chat", "http://127.0.0.1:9").start_run("a")
    assert error.value.sent is False


def test_a_run_is_seen_through_while_its_server_starts_again(connect: Connect) -> None:
    at = place("mortal")
    client = connect("mortal", max_retries=20)
    started = client.start_run(at.agent, ORDER, wait_seconds=20)
    subjects: list[str] = []

    def restart() -> None:
        urllib.request.urlopen(urllib.request.Request(at.restart, method="POST"), timeout=60).read()

    def on_event(event: types.StreamEvent) -> None:
        subjects.append(event.subject)
        if event.subject == "engine.run.paused" and not restarting.is_alive() and subjects.count(event.subject) == 1:
            restarting.start()

    restarting = threading.Thread(target=restart)
    run = client.follow_run(started.run_id, on_task=lambda task: True, on_event=on_event)
    restarting.join()
    assert (run.status, run.output) == ("Completed", {"refunded": 180})
    assert subjects[-1] == "engine.session.completed" and subjects.count("engine.session.started") == 1


def test_a_large_file_is_sent_piece_by_piece(connect: Connect, tmp_path: Any) -> None:
    client = connect("desk")
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        for n in range(20):
            file.write(bytes([n]) * 1_000_000)
    assert client.upload_workspace_file(path).filename.endswith("-large.bin")


def test_an_open_file_is_sent_from_where_it_stands(connect: Connect) -> None:
    client = connect("desk")
    file = io.BytesIO(b"skipped,kept")
    file.seek(8)
    assert client.upload_workspace_file(file, filename="rest.txt").media_type == "text/plain"


def test_a_stream_that_cannot_be_rewound_needs_its_size(connect: Connect) -> None:
    class Pipe(io.RawIOBase):
        rest = b"from a pipe"

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            part, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
            buffer[: len(part)] = part
            return len(part)

    client = connect("desk")
    with pytest.raises(TypeError, match="`size`"):
        client.upload_workspace_file(Pipe())
    assert client.upload_workspace_file(Pipe(), filename="p.txt", size=11).media_type == "text/plain"


def test_a_text_is_no_file(connect: Connect) -> None:
    with pytest.raises(TypeError, match="pathlib.Path"):
        connect("desk").upload_workspace_file("path/to/file")
