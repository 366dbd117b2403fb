"""Tasks: what waits for a person."""

from __future__ import annotations

from .._request import request_of, segment
from ..decisions import TaskDecision, answer_of
from ..types import MessageAccepted, RunStatus, TaskContent, TaskItem, TaskList
from .connection import AsyncConnection
from .runs import AsyncRuns


class AsyncTasks(AsyncRuns):
    _connection: AsyncConnection

    async def list_tasks(
        self, *, status: str | None = None, take: int | None = None, cursor: str | None = None
    ) -> TaskList:
        """
        Tasks of all runs that the key may reach, newest first: GET /v1/tasks.

        :param status: `pending`, `completed`, `expired` or `cancelled`, or several of them separated by commas
        :param take: 1 to 500; 50 when absent
        :param cursor: `next_cursor` of the page before
        """
        query = {"status": status, "take": take, "cursor": cursor}
        return await self._connection.ask(TaskList, request_of("GET", "/v1/tasks", query=query))

    async def get_task(self, task_id: str) -> TaskItem:
        """GET /v1/tasks/{taskId}"""
        return await self._connection.ask(TaskItem, request_of("GET", f"/v1/tasks/{segment(task_id)}"))

    async def pending_tasks(self, run_id: str) -> list[TaskItem]:
        """
        Tasks of the run and of its sub-agent runs that wait for an answer, oldest first. Empty where the trigger hides the timeline,
        and for a server whose status has no `pending`.
        """
        return await self.pending_tasks_of(await self.get_run(run_id))

    async def pending_tasks_of(self, run: RunStatus) -> list[TaskItem]:
        """The same for a status that was just read."""
        tasks = [await self.get_task(each.user_task_id) for each in run.pending if each.user_task_id is not None]
        return [task for task in tasks if task.status == "pending"]

    async def answer_task(
        self,
        run_id: str,
        task: TaskContent,
        decision: bool | TaskDecision,
        *,
        idempotency_key: str | None = None,
        wait_seconds: int | None = None,
    ) -> MessageAccepted:
        """
        Answers a task. Sends the digest of the arguments that the task showed, so that an answer never approves other arguments.

        :raises AnswerRefusedError: TaskAlreadyCompletedError, ArgumentsChangedError and others; nothing has changed
        :raises ApprovalNotAllowedError: for an approval, where the trigger of the key has no right to it
        """
        return await self.send_run_message(
            run_id, **answer_of(task, decision), idempotency_key=idempotency_key, wait_seconds=wait_seconds
        )
