"""Runs seen through to their end."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from time import monotonic
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from .._request import request_of, segment, waiting
from ..decisions import TaskDecision, is_completable
from ..errors import (
    RunCancelledError,
    RunFailedError,
    SvcError,
    SvcTimeoutError,
    TaskAlreadyCompletedError,
    is_refusal,
)
from ..types import RunStatus, StreamEvent, TaskItem
from ..values import is_terminal, is_waiting
from .platform import Handler, given, sleep
from .tasks import AsyncTasks

HOLD = 20
"""Seconds; less than most proxies let a request wait."""
PATIENCE = 10
"""Repetitions for a run that the server has answered for: while it starts again they go on, as a stream is opened again."""
FIRST_LOOK, LONGEST_LOOK = 0.1, 2.0
"""Seconds. A pause that somebody else must end is looked at soon, then ever more seldom."""
LONGEST_POLL = 5.0

AsyncTaskHandler: TypeAlias = Handler[TaskItem, bool | TaskDecision | None]
AsyncReplyHandler: TypeAlias = Handler[RunStatus, str | None]
AsyncEventHandler: TypeAlias = Handler[StreamEvent, object]


class AsyncFollowing(AsyncTasks):
    async def run_to_end(
        self,
        agent_id: str,
        input: Mapping[str, Any] | None = None,
        *,
        on_task: AsyncTaskHandler | None = None,
        on_reply: AsyncReplyHandler | None = None,
        on_event: AsyncEventHandler | None = None,
        metadata: Mapping[str, str] | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> RunStatus:
        """
        Starts a run, follows it to its end as `follow_run` does, and returns its status: a completed run, or one that waits for
        somebody else.

        :raises RunFailedError: with the error of the run; RunCancelledError where it was cancelled
        """
        deadline = inf if timeout is None else monotonic() + timeout
        started = await self.start_run(agent_id, input, metadata=metadata, idempotency_key=idempotency_key)
        run = await self._follow(started.run_id, on_task, on_reply, on_event, deadline)
        if run.status == "Failed":
            raise RunFailedError(run)
        if run.status == "Cancelled":
            raise RunCancelledError(run)
        return run

    async def follow_run(
        self,
        run_id: str,
        *,
        on_task: AsyncTaskHandler | None = None,
        on_reply: AsyncReplyHandler | None = None,
        on_event: AsyncEventHandler | None = None,
        timeout: float | None = None,
    ) -> RunStatus:
        """
        Follows a run to its end. Returns its status, which is a waiting one if a task was left open; a failed run is a result.

        :param on_task: decides a task: True, False or a `TaskDecision`. None leaves the run waiting, and returns.
        :param on_reply: replies to a run in `WaitingForResponse`; None leaves it waiting
        :param on_event: gets each event of the run, once and in order, the last one before this returns
        :param timeout: seconds in all; the run goes on after them
        :raises AnswerRefusedError: where an answer is refused, unless somebody else has given one
        """
        deadline = inf if timeout is None else monotonic() + timeout
        return await self._follow(run_id, on_task, on_reply, on_event, deadline)

    async def wait_for_run(
        self,
        run_id: str,
        *,
        until: Literal["pause", "terminal"] = "pause",
        timeout: float | None = None,
        poll: float = 0.25,
    ) -> RunStatus:
        """
        Waits until the run pauses or ends, or with `terminal` until it has ended, in requests that the server holds until then. Where
        it answers at once, asks ever more seldom. Where a held request breaks, asks again, and for shorter waits: something between may
        close what is silent for so long.

        :param poll: seconds between the first two requests that the server answers at once, doubling to 5
        """
        return await self._wait(run_id, until, inf if timeout is None else monotonic() + timeout, poll)

    async def _wait(
        self, run_id: str, until: Literal["pause", "terminal"], deadline: float, poll: float = 0.25
    ) -> RunStatus:
        hold = HOLD
        is_known = False
        while True:
            asked = monotonic()
            seconds = max(1, min(hold, int(_rest(run_id, deadline)))) if deadline < inf else hold
            request = request_of("GET", f"/v1/runs/{segment(run_id)}", headers=waiting(seconds))
            try:
                run = await self._connection.ask(RunStatus, request, timeout=10, held=seconds, max_retries=0)
            except SvcError as error:
                if is_refusal(error):
                    raise
                was_held = monotonic() - asked >= 1
                if was_held:
                    hold = max(1, hold // 4)
                plain = request_of("GET", f"/v1/runs/{segment(run_id)}")
                retries = PATIENCE if is_known or was_held else None
                run = await self._connection.ask(RunStatus, plain, max_retries=retries)
            is_known = True
            if is_terminal(run.status) or (until == "pause" and is_waiting(run.status)):
                return run
            rest = _rest(run_id, deadline)
            # Held: the run worked all the time, and the next request may be held as well.
            if monotonic() - asked >= seconds / 2:
                continue
            await sleep(min(poll, rest))
            poll = min(poll * 2, LONGEST_POLL)

    async def _follow(
        self,
        run_id: str,
        on_task: AsyncTaskHandler | None,
        on_reply: AsyncReplyHandler | None,
        on_event: AsyncEventHandler | None,
        deadline: float,
    ) -> RunStatus:
        decided: set[str] = set()
        if on_event is not None:
            left = None if deadline == inf else deadline - monotonic()
            async with self.stream_run_events(run_id, timeout=left) as events:
                async for event in events:
                    await given(on_event(event))
                    if not _may_ask(event):
                        continue
                    run = await self.get_run(run_id)
                    if is_waiting(run.status) and await self._decide(run, on_task, on_reply, decided) == "left":
                        return run
        look = FIRST_LOOK
        while True:
            run = await self._wait(run_id, "pause", deadline)
            if is_terminal(run.status):
                return run
            outcome = await self._decide(run, on_task, on_reply, decided)
            if outcome == "left":
                return run
            if outcome == "answered":
                look = FIRST_LOOK
                continue
            # The next approver, an operator or another agent has the word.
            await sleep(min(look, _rest(run_id, deadline)))
            look = min(look * 2, LONGEST_LOOK)

    async def _decide(
        self,
        run: RunStatus,
        on_task: AsyncTaskHandler | None,
        on_reply: AsyncReplyHandler | None,
        decided: set[str],
    ) -> Literal["left", "answered", "others"]:
        """What became of a run that waits: left to somebody else, answered here, or waiting for others although we decide."""
        if run.status == "WaitingForResponse":
            text = None if on_reply is None else await given(on_reply(run))
            if text is None:
                return "left"
            await self.send_run_message(run.run_id, text)
            return "answered"
        if on_task is None:
            return "left"
        ours = [
            task
            for task in await self.pending_tasks_of(run)
            if is_completable(task) and task.user_task_id not in decided
        ]
        for task in ours:
            decision: bool | TaskDecision | None = await given(on_task(task))
            if decision is None:
                return "left"
            try:
                await self.answer_task(run.run_id, task, decision, idempotency_key=str(uuid4()))
            except TaskAlreadyCompletedError:
                pass  # by somebody else, and the run goes on either way
            decided.add(task.user_task_id)
        return "answered" if ours else "others"


def _may_ask(event: StreamEvent) -> bool:
    """After this the run may wait for an answer of ours."""
    return event.subject in ("engine.run.paused", "engine.session.paused")


def _rest(run_id: str, deadline: float) -> float:
    rest = deadline - monotonic()
    if rest <= 0:
        raise SvcTimeoutError(f"Run {run_id} goes on, and the time to wait for it is up.", f"/v1/runs/{run_id}")
    return rest
