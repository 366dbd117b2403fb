"""One run with each half, without pytest: for every Python that the machine has."""

from __future__ import annotations

import asyncio
import sys

from svc_agents import AsyncSvc, Svc, types

from .places import place

ORDER = {"order": "A-1042", "amount": 180}


def synchronous() -> list[str]:
    at = place("desk")
    subjects: list[str] = []
    with Svc(api_key=at.key, base_url=at.url) as client:
        upload = client.upload_workspace_file("größer 😀".encode(), filename="a.txt")
        run = client.run_to_end(
            at.agent, ORDER, on_task=lambda task: True, on_event=lambda event: subjects.append(event.subject)
        )
        items = client.get_conversation(run.run_id).items
    assert (upload.media_type, run.output) == ("text/plain", {"refunded": 180})
    assert any(isinstance(item, types.ToolCallItem) for item in items)
    return subjects


async def asynchronous() -> list[str]:
    at = place("desk")
    subjects: list[str] = []

    async def on_task(task: types.TaskItem) -> bool:
        return task.kind == "approval"

    async with AsyncSvc(api_key=at.key, base_url=at.url) as client:
        await client.upload_workspace_file("größer 😀".encode(), filename="a.txt")
        run = await client.run_to_end(
            at.agent, ORDER, on_task=on_task, on_event=lambda event: subjects.append(event.subject)
        )
        assert run.output == {"refunded": 180}
    return subjects


if __name__ == "__main__":
    seen = synchronous()
    assert seen == asyncio.run(asynchronous()) and seen[-1] == "engine.session.completed"
    print("%d.%d" % sys.version_info[:2])
