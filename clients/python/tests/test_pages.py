"""The Python of the pages (the cells of the notebook: test_notebook.py): each block runs in a module of its own, and its functions do what the page says."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from svc_agents import AsyncSvc, Svc

from .places import place

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / path for path in ("docs/python.md", "docs/python-fastapi.md", "clients/python/README.md")]
ORDER = {"order": "A-1042", "amount": 180}


def blocks_of(page: Path) -> list[tuple[int, str]]:
    text = page.read_text()
    return [
        (text[: found.start()].count("\n") + 1, found[1])
        for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


BLOCKS = [pytest.param(page, line, text, id=f"{page.name}:{line}") for page in PAGES for line, text in blocks_of(page)]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    at = place("desk")
    monkeypatch.setenv("SVC_API_KEY", at.key)
    monkeypatch.setenv("SVC_URL", at.url)


def local(text: str) -> str:
    """The block with the server and the agent of these tests."""
    at = place("desk")
    text = re.sub(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", at.agent, text)
    return text.replace("svc_…", at.key).replace("http://127.0.0.1:4310", at.url)


def load(page: Path, line: int, text: str) -> ModuleType:
    module = ModuleType(f"block_{line}")
    wanted = [name for name in re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE) if name != "svc_agents"]
    for name in wanted:
        pytest.importorskip(name)
    exec(compile(local(text), f"{page.name}:{line}", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(("page", "line", "text"), BLOCKS)
def test_a_block_runs(page: Path, line: int, text: str) -> None:
    load(page, line, text)


def function(name: str) -> Any:
    for page in PAGES:
        for line, text in blocks_of(page):
            if re.search(rf"^(?:async )?def {name}\(", text, re.MULTILINE):
                return getattr(load(page, line, text), name)
    raise LookupError(name)


@pytest.fixture
def client() -> Iterator[Svc]:
    with Svc() as made:
        yield made


@pytest.fixture
def run_id(client: Svc) -> str:
    return client.start_run(place("desk").agent, ORDER, wait_seconds=20).run_id


def test_approve_all_and_calls_of(client: Svc, run_id: str) -> None:
    function("approve_all")(client, run_id)
    assert client.get_run(run_id).status == "Completed"
    assert function("calls_of")(client, run_id) == ["lookup", "refunds"]


def test_subjects_of(client: Svc, run_id: str) -> None:
    client.cancel_run(run_id)

    async def subjects() -> Any:
        async with AsyncSvc() as asynchronous:
            return await function("soon")(asynchronous, run_id)

    assert asyncio.run(subjects())[-1] == "engine.session.cancelled"


def test_book_and_attach(client: Svc, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF")
    with pytest.raises(Exception, match="input_contract_violation"):  # the desk wants an order, not a document
        function("book")(client, place("desk").agent, path)
    with Svc(api_key=place("asking").key, base_url=place("asking").url) as asking:
        assert inspect.isfunction(function("attach")) and asking


def test_output_of_and_start(client: Svc, run_id: str, capsys: Any) -> None:
    assert function("output_of")(client, run_id) is None
    assert function("output_of")(client, "00000000-0000-7000-8000-000000000000") is None
    assert function("start")(client, place("desk").agent) is None
    assert "/input/amount" in capsys.readouterr().out
