"""Streams and tasks that are left in the middle: no connection stays open."""

from __future__ import annotations

import asyncio
import time

import pytest

from svc_agents import AsyncSvc, Svc

from .faulty import FaultyProxy, silent
from .places import place

ORDER = {"order": "A-1042", "amount": 180}


def closed(proxy: FaultyProxy) -> bool:
    """Whether the client closes what it has opened, soon."""
    deadline = time.monotonic() + 5
    while proxy.open_connections > 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    return proxy.open_connections == 0


async def _waiting_run(client: AsyncSvc) -> str:
    started = await client.start_run(place("desk").agent, ORDER, wait_seconds=20)
    return started.run_id


def test_a_loop_that_is_left_closes_its_stream() -> None:
    at = place("desk")
    with FaultyProxy(at.url) as proxy, Svc(api_key=at.key, base_url=at.url) as direct:
        run_id = direct.start_run(at.agent, ORDER, wait_seconds=20).run_id
        client = Svc(api_key=at.key, base_url=proxy.url)
        for _ in client.stream_run_events(run_id):
            break
        assert closed(proxy)
        client.close()


def test_an_asynchronous_loop_that_is_left_closes_its_stream_with_or_without_async_with() -> None:
    at = place("desk")

    async def leave(proxy: FaultyProxy) -> None:
        async with AsyncSvc(api_key=at.key, base_url=proxy.url) as client:
            async with AsyncSvc(api_key=at.key, base_url=at.url) as direct:
                run_id = await _waiting_run(direct)
            async with client.stream_run_events(run_id) as events:
                async for _ in events:
                    break
            assert await asyncio.to_thread(closed, proxy)
            async for _ in client.stream_run_events(run_id):
                break
            assert await asyncio.to_thread(closed, proxy)

    with FaultyProxy(at.url) as proxy:
        asyncio.run(leave(proxy))


def test_a_task_that_is_cancelled_leaves_no_connection_and_none_is_missing_afterwards() -> None:
    at = place("desk")

    async def cancel_all(proxy: FaultyProxy) -> None:
        async with AsyncSvc(api_key=at.key, base_url=at.url) as direct:
            run_id = await _waiting_run(direct)
        async with AsyncSvc(api_key=at.key, base_url=proxy.url) as client:
            # The first connections get no answer. All are asked before they are left: anyio 3 loses what is cancelled while it connects.
            tasks = [asyncio.create_task(client.get_run(run_id)) for _ in range(5)]
            while len(proxy.requests) < 5:
                await asyncio.sleep(0.01)

            async def read() -> None:
                async with client.stream_run_events(run_id) as events:
                    async for _ in events:
                        pass

            tasks += [asyncio.create_task(read()) for _ in range(5)]  # type: ignore[arg-type]
            while len(proxy.requests) < 10:
                await asyncio.sleep(0.01)
            assert proxy.open_connections == 10
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            assert {type(each) for each in ended} == {asyncio.CancelledError}
            assert await asyncio.to_thread(closed, proxy)
            assert (await client.get_run(run_id)).status == "WaitingForHITL"

    with FaultyProxy(at.url, *[silent() for _ in range(5)]) as proxy:
        asyncio.run(cancel_all(proxy))


def test_a_time_limit_of_the_caller_ends_a_call_and_closes_its_connection() -> None:
    at = place("chat")

    async def limited(proxy: FaultyProxy) -> None:
        async with AsyncSvc(api_key=at.key, base_url=proxy.url) as client:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.get_run("r"), 0.2)
            assert await asyncio.to_thread(closed, proxy)

    with FaultyProxy(at.url, silent()) as proxy:
        asyncio.run(limited(proxy))


def test_handlers_of_the_asynchronous_half_may_be_coroutines() -> None:
    at = place("desk")

    async def see_through() -> None:
        seen: list[str] = []

        async def on_task(task: object) -> bool:
            await asyncio.sleep(0)
            return True

        async def on_event(event: object) -> None:
            seen.append(str(getattr(event, "subject", "")))

        async with AsyncSvc(api_key=at.key, base_url=at.url) as client:
            run = await client.run_to_end(at.agent, ORDER, on_task=on_task, on_event=on_event)
        assert (run.status, seen[-1]) == ("Completed", "engine.session.completed")

    asyncio.run(see_through())
