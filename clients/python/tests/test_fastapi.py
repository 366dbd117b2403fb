"""The backend of docs/python-fastapi.md."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from svc_agents import Svc

from .places import place
from .test_pages import ROOT, blocks_of, load
from .test_webhooks import SECRET, sign

pytest.importorskip("fastapi", reason="apt-get install python3-fastapi")


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Any:
    from fastapi.testclient import TestClient

    at = place("desk")
    monkeypatch.setenv("SVC_API_KEY", at.key)
    monkeypatch.setenv("SVC_URL", at.url)
    monkeypatch.setenv("SVC_WEBHOOK_SECRET", SECRET)
    page = ROOT / "docs/python-fastapi.md"
    [(line, text)] = blocks_of(page)
    with TestClient(load(page, line, text).app) as client:
        yield client


def test_a_browser_starts_a_run_once_and_follows_it(browser: Any) -> None:
    order = f"A-{time.time_ns()}"
    first, second = (browser.post(f"/refunds?order={order}&amount=180") for _ in "ab")
    assert (first.status_code, first.json()) == (202, second.json())
    run_id = first.json()["runId"]
    with Svc() as client:
        client.cancel_run(run_id)
        events = [event.raw for event in client.stream_run_events(run_id)]
    # This client of FastAPI shows an answer once it is whole.
    answer = browser.get(f"/refunds/{run_id}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [json.loads(line[6:]) for line in answer.text.split("\n") if line.startswith("data: ")] == events
    after = browser.get(f"/refunds/{run_id}/events", headers={"last-event-id": str(len(events) - 1)})
    assert after.text == f"id: {len(events)}\ndata: {json.dumps(events[-1])}\n\n"


def test_an_unknown_run_is_404(browser: Any) -> None:
    answer = browser.get("/refunds/00000000-0000-7000-8000-000000000000/events")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_only_a_signed_webhook_is_taken(browser: Any, capsys: Any) -> None:
    body = '{"type":"run.failed"}'
    assert browser.post("/hooks/svc", content=body, headers=sign(body)).status_code == 204
    assert capsys.readouterr().out == "msg_1 run.failed\n"
    assert browser.post("/hooks/svc", content=body + " ", headers=sign(body)).status_code == 401
