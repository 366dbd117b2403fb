# Written by scripts/python.js from _async/runs.py.
"""Runs: started, read, followed, told something, cancelled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf
from time import monotonic
from typing import Any, Literal
from uuid import uuid4

from .._request import Request, request_of, segment, waiting, without_none
from ..errors import AnswerRefusedError, status_error
from ..types import (
    Cancelled,
    CompletionAccepted,
    Conversation,
    FileItem,
    JsonValue,
    MessageAccepted,
    RunStatus,
    StartRunResponse,
    ValueReference,
)
from .connection import Connection
from .stream import EventStream


class Runs:
    _connection: Connection

    def start_run(
        self,
        agent_id: str,
        input: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        tags: Sequence[str] | None = None,
        session_id: str | None = None,
        version_id: str | None = None,
        idempotency_key: str | None = None,
        wait_seconds: int | None = None,
    ) -> StartRunResponse:
        """
        Starts a run of the agent's deployed version: POST /v1/agents/{agentId}/runs.

        :param input: must match the input contract of the agent; a file in it is what `file_ref` returns
        :param session_id: an ended session to continue; `continue_session` says more
        :param idempotency_key: the same key within 24 hours starts nothing twice. One of its own when absent, so that a start whose
            connection breaks is repeated; the exception has it.
        :param wait_seconds: asks the server to answer only when the run pauses or ends, at the latest after this many seconds (60)
        """
        body = {
            "input": input,
            "metadata": metadata,
            "tags": tags,
            "sessionId": session_id,
            "versionId": version_id,
        }
        request = request_of(
            "POST",
            f"/v1/agents/{segment(agent_id)}/runs",
            headers=waiting(wait_seconds),
            body=without_none(body),
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return self._connection.ask(StartRunResponse, request, held=wait_seconds)

    def continue_session(
        self,
        agent_id: str,
        session_id: str,
        input: Mapping[str, Any] | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
        tags: Sequence[str] | None = None,
        version_id: str | None = None,
        idempotency_key: str | None = None,
        wait_seconds: int | None = None,
    ) -> StartRunResponse:
        """
        Continues a session whose runs have all ended: a new root run that sees the conversation before it, on the deployed version or
        on `version_id`.

        :raises SessionNotEndedError: while a run of it is not terminal
        """
        return self.start_run(
            agent_id,
            input,
            metadata=metadata,
            tags=tags,
            session_id=session_id,
            version_id=version_id,
            idempotency_key=idempotency_key,
            wait_seconds=wait_seconds,
        )

    def get_run(self, run_id: str, *, wait_seconds: int | None = None) -> RunStatus:
        """Status and result, never redacted: GET /v1/runs/{runId}."""
        request = request_of("GET", f"/v1/runs/{segment(run_id)}", headers=waiting(wait_seconds))
        return self._connection.ask(RunStatus, request, held=wait_seconds)

    def get_conversation(
        self,
        run_id: str,
        *,
        step_content: Literal["slim", "full"] | None = None,
        take: int | None = None,
        cursor: str | None = None,
        values: Literal["ref"] | None = None,
    ) -> Conversation:
        """
        Session, runs and timeline: GET /v1/runs/{runId}/conversation.

        :param take: items at most
        :param cursor: `next_cursor` of the page before
        :param values: `ref`: values of more than 4 KiB come as references
        """
        query = {"stepContent": step_content, "take": take, "cursor": cursor, "values": values}
        request = request_of("GET", f"/v1/runs/{segment(run_id)}/conversation", query=query)
        return self._connection.ask(Conversation, request)

    def send_run_message(
        self,
        run_id: str,
        text: str | None = None,
        *,
        files: Sequence[FileItem] | None = None,
        steer: Literal[True, "interrupt"] | None = None,
        user_task_id: str | None = None,
        approved: bool | None = None,
        selected_option_id: str | None = None,
        text_value: str | None = None,
        number_value: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        path: Literal["messages", "input"] = "messages",
        idempotency_key: str | None = None,
        wait_seconds: int | None = None,
    ) -> MessageAccepted:
        """
        Gives a run what it waits for, a reply, files, or the answer to a task: POST /v1/runs/{runId}/messages or /input.

        :param steer: for a run that works: its next completion takes the text up; `interrupt` drops the one under way
        :param idempotency_key: as for `start_run`
        :raises AnswerRefusedError: where the run cannot take it; nothing has changed
        """
        body = {
            "runId": run_id,
            "text": text,
            "files": files,
            "steer": steer,
            "userTaskId": user_task_id,
            "approved": approved,
            "selectedOptionId": selected_option_id,
            "textValue": text_value,
            "numberValue": number_value,
            "metadata": metadata,
        }
        request = request_of(
            "POST",
            f"/v1/runs/{segment(run_id)}/{path}",
            headers=waiting(wait_seconds),
            body=without_none(body),
            idempotency_key=idempotency_key or str(uuid4()),
        )
        return _accepted(request, self._connection.ask(MessageAccepted, request, held=wait_seconds))

    def stream_run_events(
        self,
        run_id: str,
        *,
        last_event_id: str | None = None,
        reconnect: bool = True,
        timeout: float | None = None,
    ) -> EventStream:
        """
        GET /v1/runs/{runId}/stream, resumed where it breaks: each event once and in order, to the end of the run.

        :param last_event_id: events after this one; from the session's first when absent
        :param reconnect: False: the first cut ends the stream with an error
        :param timeout: seconds in all; looked at whenever something arrives, at the latest every 15 seconds
        """
        request = request_of("GET", f"/v1/runs/{segment(run_id)}/stream", headers={"Accept": "text/event-stream"})
        deadline = inf if timeout is None else monotonic() + timeout
        return EventStream(self._connection, request, run_id, last_event_id, reconnect, deadline)

    def cancel_run(self, run_id: str, *, reason: str | None = None) -> Cancelled:
        """Cancels a run and its descendants: POST /v1/runs/{runId}/cancel. A run that has ended keeps its status."""
        request = request_of("POST", f"/v1/runs/{segment(run_id)}/cancel", body=without_none({"reason": reason}))
        return self._connection.ask(Cancelled, request)

    def get_value(self, reference: ValueReference) -> JsonValue:
        """The value that a reference stands for: GET /v1/runs/{runId}/values/{digest}."""
        # The key goes along, so the address must be one of the server's own.
        if not reference.url.startswith("/v1/runs/"):
            raise ValueError(f'"{reference.url}" is not the address of a value.')
        return self._connection.call(request_of("GET", reference.url))

    def send_signal(self, run_id: str, name: str, data: JsonValue = None) -> MessageAccepted:
        """
        Sends a signal to a run that waits for it with `svc.wait_event`: POST /v1/runs/{runId}/signals/{name}.

        :raises AnswerRefusedError: where nobody waits for it, or it does not match; nothing has changed
        """
        path = f"/v1/runs/{segment(run_id)}/signals/{segment(name)}"
        request = request_of("POST", path, body={"data": data})
        return _accepted(request, self._connection.ask(MessageAccepted, request))

    def complete_call(self, token: str, *, result: JsonValue = None, error: JsonValue = None) -> CompletionAccepted:
        """
        Ends the call to which a token was given, by its result or by its error: POST /v1/completions/{token}. The same report may be
        sent again.

        :raises CompletionNotFoundError: for a token that is unknown
        :raises CompletionUsedError: where another report has ended the call
        """
        body = {"result": result} if error is None else {"error": error}
        request = request_of("POST", f"/v1/completions/{segment(token)}", body=body)
        return self._connection.ask(CompletionAccepted, request)


def _accepted(request: Request, answer: MessageAccepted) -> MessageAccepted:
    if answer.error is None:
        return answer
    error = status_error(method="POST", status=202, path=request.shown, body=json.dumps(dict(answer.raw)))
    if isinstance(error, AnswerRefusedError):
        error.accepted = answer
    raise error
