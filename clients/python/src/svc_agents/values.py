"""What statuses, events and references mean."""

from __future__ import annotations

from collections.abc import Mapping

from ._readers import read_shape
from .types import StepEvent, StreamEvent, TimelineItem, ValueReference


def is_terminal(status: str) -> bool:
    """True for the statuses that never change again."""
    return status in ("Completed", "Failed", "Cancelled")


def is_waiting(status: str) -> bool:
    """True while the run waits for a person, a reply or another agent."""
    return status.startswith("WaitingFor")


def step_of(event: StreamEvent) -> TimelineItem | None:
    """The step that an event is about; None for other events, and for what is told while a step goes on."""
    return event.data.step if isinstance(event, StepEvent) and event.data else None


def value_reference(value: object) -> ValueReference | None:
    """The reference that an answer holds in place of a large value; None for any other value. `get_value` reads what it stands for."""
    if isinstance(value, Mapping) and isinstance(value.get("svcValue"), str) and isinstance(value.get("url"), str):
        return read_shape(ValueReference, value)
    return None
