"""What is read of a server that is older or newer than this client."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from svc_agents import is_terminal, is_waiting, types, value_reference
from svc_agents._readers import TIMELINE_ITEM, one_of, read_shape
from svc_agents._shape import READERS

RUN: dict[str, Any] = {
    "runId": "r",
    "status": "Completed",
    "output": {"großes": "😀", "amount": 12.5},
    "sessionId": "s",
    "agentId": "a",
    "agentVersionId": "v",
    "versionLabel": "1.0.0",
    "totalTokensUsed": 3,
    "startedAt": "t",
    "finishedAt": None,
    "pending": [{"kind": "approval", "runId": "r", "prompt": "p", "expiresAt": None, "onTimeout": "deny"}],
}


def test_a_run_has_the_names_of_python_and_the_values_as_they_came() -> None:
    run = read_shape(types.RunStatus, RUN)
    assert (run.run_id, run.output, run.total_tokens_used) == ("r", {"großes": "😀", "amount": 12.5}, 3)
    assert [each.on_timeout for each in run.pending] == ["deny"]
    assert run.raw is RUN
    assert "raw" not in repr(run)


def test_what_an_older_server_leaves_out_is_none_or_empty() -> None:
    run = read_shape(types.RunStatus, {"runId": "r", "status": "Running", "output": None})
    given: list[object] = [run.session_id, run.error, run.hold, run.pending]
    assert given == [None, None, None, ()]


def test_what_a_newer_server_adds_is_kept() -> None:
    newer = {**RUN, "status": "Rejoiced", "mood": {"of": ["people"]}, "errorCode": "bad_mood"}
    run = read_shape(types.RunStatus, newer)
    assert (run.status, run.error_code, run.raw["mood"]) == ("Rejoiced", "bad_mood", {"of": ["people"]})
    assert not is_terminal(run.status) and not is_waiting(run.status)
    item = one_of(TIMELINE_ITEM)({"type": "Dream", "ordinal": 7, "content": {"of": "sheep"}})
    assert isinstance(item, types.OtherTimelineItem)
    assert (item.type, item.ordinal, item.content) == ("Dream", 7, {"of": "sheep"})


@pytest.mark.parametrize("strange", [None, 7, "text", [], {}, [7], ["text", None], {"type": []}])
def test_a_value_of_another_kind_is_no_error_anywhere(strange: object) -> None:
    for shape, fields in READERS.items():
        whole = read_shape(shape, {wire: strange for _, wire, _ in fields})
        assert set(whole.raw) == {wire for _, wire, _ in fields}
    assert one_of(TIMELINE_ITEM)(strange) is None or isinstance(strange, dict)


def test_the_content_of_an_erased_step_is_none() -> None:
    item = one_of(TIMELINE_ITEM)({"type": "Reasoning", "content": None})
    assert isinstance(item, types.ReasoningItem) and item.content is None


def test_a_shape_is_frozen_equal_by_its_fields_and_can_be_copied_and_pickled() -> None:
    run = read_shape(types.RunStatus, RUN)
    with pytest.raises(AttributeError):
        run.status = "Failed"  # type: ignore[misc]
    for other in (copy.deepcopy(run), pickle.loads(pickle.dumps(run)), read_shape(types.RunStatus, {**RUN, "more": 1})):
        assert other == run
    with pytest.raises(AttributeError):
        run.no_such_field  # type: ignore[attr-defined]


def test_only_a_reference_is_taken_for_one() -> None:
    url = "/v1/runs/r/values/d"
    reference = value_reference({"svcValue": "sha256:d", "bytes": 5, "url": url})
    assert reference is not None and (reference.svc_value, reference.bytes, reference.url) == ("sha256:d", 5, url)
    others: list[object] = [None, "text", {}, {"svcValue": 1, "url": url}]
    assert [value_reference(each) for each in others] == [None] * 4
