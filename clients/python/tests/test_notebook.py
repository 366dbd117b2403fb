"""The cells of docs/python-notebook.md, in their order, as IPython runs them: with `await` outside of functions."""

from __future__ import annotations

import ast
import asyncio
import inspect
from typing import Any

import pytest

from .places import place
from .test_pages import ROOT, blocks_of


def test_the_cells_of_the_notebook_run_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    at = place("desk")
    monkeypatch.setenv("SVC_API_KEY", at.key)
    monkeypatch.setenv("SVC_URL", at.url)

    async def play() -> list[Any]:
        names: dict[str, Any] = {}
        shown = []
        for line, text in blocks_of(ROOT / "docs/python-notebook.md"):
            tree = ast.parse(text)
            last = tree.body[-1]
            # A cell shows the value of its last line.
            if isinstance(last, ast.Expr):
                name = ast.Name("shown", ast.Store())
                tree.body[-1] = ast.Assign([name], last.value)
            code = compile(
                ast.fix_missing_locations(tree), f"cell {line}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            )
            ended = eval(code, names)
            if inspect.iscoroutine(ended):
                await ended
            shown.append(names.pop("shown", None))
        await names["svc"].aclose()
        return shown

    status, tasks, output, calls, _ = asyncio.run(play())
    assert (status, output) == ("WaitingForHITL", {"refunded": 180})
    assert [arguments for _, arguments, _ in tasks] == [{"amount": 180}]
    assert calls == [(kind, name) for name in ("lookup", "refunds") for kind in ("ToolCall", "ToolResult")]
