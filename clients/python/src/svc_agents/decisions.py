"""What a person decides about a task, and the message that says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._request import without_none
from .types import TaskContent


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDecision:
    """For an approval `True` or `False` is enough."""

    approved: bool | None = None
    selected_option_id: str | None = None
    text_value: str | None = None
    number_value: float | None = None
    comment: str | None = None
    """Reaches the model where the policy returns a rejection to the agent."""
    arguments: Mapping[str, Any] | None = None
    """Arguments to run instead of those that were asked for."""
    acknowledged: bool | None = None
    """What the policy asks to be understood has been understood."""
    metadata: Mapping[str, Any] | None = None


def answer_of(task: TaskContent, decision: bool | TaskDecision) -> dict[str, Any]:
    """With the digest of the arguments that the task showed, so that an answer never approves others."""
    said = TaskDecision(approved=decision) if isinstance(decision, bool) else decision
    meaning = without_none(
        {
            **(said.metadata or {}),
            "svc/arguments_digest": task.arguments_digest,
            "svc/comment": said.comment,
            "svc/acknowledged": said.acknowledged,
            "svc/arguments": said.arguments,
        }
    )
    return {
        "user_task_id": task.user_task_id,
        "approved": said.approved,
        "selected_option_id": said.selected_option_id,
        "text_value": said.text_value,
        "number_value": said.number_value,
        "metadata": meaning or None,
    }


def is_completable(task: TaskContent) -> bool:
    """Whether a key can answer it. Older servers do not say."""
    return "api" in task.completable_via or "completable_via" not in task.raw
