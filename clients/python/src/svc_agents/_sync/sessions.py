# Written by scripts/python.js from _async/sessions.py.
"""Sessions: what was started, with all its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .._request import request_of, segment
from .._settings import NOT_GIVEN, NotGiven
from ..types import SessionList, SessionListItem
from .connection import Connection


class Sessions:
    _connection: Connection

    def list_sessions(
        self,
        agent_id: str,
        *,
        skip: int | None = None,
        take: int | None = None,
        version_id: str | None = None,
        version: str | None = None,
        status: str | None = None,
        tag: str | None = None,
        from_time: str | None = None,
        to_time: str | None = None,
        cursor: str | None = None,
        values: str | None = None,
    ) -> SessionList:
        """
        One page, newest first: GET /v1/agents/{agentId}/sessions.

        :param take: 1 to 500; 50 when absent
        :param version: the label of a version, in place of `version_id`
        :param status: one status or several, separated by commas
        :param from_time: sessions that started at this time or later, such as 2026-11-20T10:00:00Z
        :param to_time: sessions that started before this time
        :param cursor: `next_cursor` of the page before
        :param values: `ref`: values of more than 4 KiB come as references
        """
        query = {
            "skip": skip,
            "take": take,
            "versionId": version_id,
            "version": version,
            "status": status,
            "tag": tag,
            "from": from_time,
            "to": to_time,
            "cursor": cursor,
            "values": values,
        }
        return self._connection.ask(SessionList, request_of("GET", f"/v1/agents/{segment(agent_id)}/sessions", query=query))

    def iterate_sessions(
        self,
        agent_id: str,
        *,
        take: int | None = None,
        version_id: str | None = None,
        version: str | None = None,
        status: str | None = None,
        tag: str | None = None,
        from_time: str | None = None,
        to_time: str | None = None,
        values: str | None = None,
    ) -> Iterator[SessionListItem]:
        """Every session of the agent, newest first, a page of `take` at a time; those that begin meanwhile do not show one twice."""
        cursor: str | None = None
        while True:
            page = self.list_sessions(
                agent_id,
                take=take,
                version_id=version_id,
                version=version,
                status=status,
                tag=tag,
                from_time=from_time,
                to_time=to_time,
                cursor=cursor,
                values=values,
            )
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return

    def get_session(self, session_id: str) -> SessionListItem:
        """A session as the list shows it: GET /v1/sessions/{sessionId}."""
        return self._connection.ask(SessionListItem, request_of("GET", _path_of(session_id)))

    def update_session(
        self,
        session_id: str,
        *,
        title: str | None | NotGiven = NOT_GIVEN,
        metadata: Mapping[str, str] | NotGiven = NOT_GIVEN,
        tags: Sequence[str] | NotGiven = NOT_GIVEN,
    ) -> SessionListItem:
        """Sets what is given, and leaves the rest: PATCH /v1/sessions/{sessionId}. A title of None is removed."""
        given = {"title": title, "metadata": metadata, "tags": tags}
        body = {name: value for name, value in given.items() if not isinstance(value, NotGiven)}
        return self._connection.ask(SessionListItem, request_of("PATCH", _path_of(session_id), body=body))

    def delete_session(self, session_id: str) -> SessionListItem:
        """
        Erases the content of an ended session, where its trigger allows that: DELETE /v1/sessions/{sessionId}.

        :raises SessionNotEndedError: while a run of it is not terminal
        """
        return self._connection.ask(SessionListItem, request_of("DELETE", _path_of(session_id)))


def _path_of(session_id: str) -> str:
    return f"/v1/sessions/{segment(session_id)}"
