"""Each method against a real server, in both halves."""

from __future__ import annotations

import time
from typing import Any

import pytest

from svc_agents import (
    AnswerRefusedError,
    ApprovalNotAllowedError,
    ConflictError,
    RunCancelledError,
    RunFailedError,
    SessionNotEndedError,
    Svc,
    TaskAlreadyCompletedError,
    TaskDecision,
    file_item,
    file_ref,
    step_of,
    types,
    value_reference,
)

from .conftest import Connect
from .places import place

ORDER = {"order": "A-1042", "amount": 180}


def somebody_else() -> Svc:
    at = place("desk")
    return Svc(api_key=at.key, base_url=at.url)


def test_run_to_end_approves_what_is_asked_and_tells_of_each_event_once_and_in_order(connect: Connect) -> None:
    client = connect("desk")
    sessions: list[str] = []
    calls: list[str] = []

    def on_task(task: types.TaskItem) -> TaskDecision:
        assert task.tool is not None
        calls.append(f"{task.kind} {task.tool.name}")
        return TaskDecision(approved=True, comment="fine")

    def on_event(event: types.StreamEvent) -> None:
        step = step_of(event)
        if isinstance(step, types.ToolCallItem) and event.subject == "engine.step.completed" and step.content:
            calls.append(step.content.name)
        if event.kind == "session":
            sessions.append(event.subject)

    run = client.run_to_end(place("desk").agent, ORDER, on_task=on_task, on_event=on_event)
    assert (run.status, run.output) == ("Completed", {"refunded": 180})
    assert calls == ["lookup", "approval refunds", "refunds"]
    assert sessions == [f"engine.session.{word}" for word in ("started", "paused", "resumed", "completed")]


def test_run_to_end_needs_no_stream(connect: Connect) -> None:
    run = connect("desk").run_to_end(place("desk").agent, ORDER, on_task=lambda task: True)
    assert (run.status, run.output) == ("Completed", {"refunded": 180})


def test_run_to_end_raises_the_error_of_a_run_that_failed(connect: Connect) -> None:
    client = connect("broken")
    with pytest.raises(RunFailedError) as failed:
        client.run_to_end(place("broken").agent, {})
    run = failed.value.run
    assert run.error and run.error in str(failed.value) and run.run_id in str(failed.value)
    assert (run.status, failed.value.code) == ("Failed", run.error_code)
    # A failed run is a result of the function that only follows.
    assert client.follow_run(run.run_id).status == "Failed"


def test_a_cancelled_run_is_raised_as_that(connect: Connect) -> None:
    client = connect("desk")

    def cancel(task: types.TaskItem) -> bool:
        with somebody_else() as other:
            other.cancel_run(task.run_id, reason="not wanted")
        return True

    with pytest.raises(RunCancelledError):
        client.run_to_end(place("desk").agent, ORDER, on_task=cancel)
    started = client.start_run(place("desk").agent, ORDER, wait_seconds=20)
    assert client.cancel_run(started.run_id).status == "Cancelled"
    assert client.cancel_run(started.run_id).status == "Cancelled"
    assert client.pending_tasks(started.run_id) == []


def test_a_task_that_somebody_else_has_answered_meanwhile_is_no_error(connect: Connect) -> None:
    def late(task: types.TaskItem) -> bool:
        with somebody_else() as other:
            other.answer_task(task.run_id, task, True)
        return False

    assert connect("desk").run_to_end(place("desk").agent, ORDER, on_task=late).output == {"refunded": 180}


def test_wait_for_run_comes_back_at_a_pause_and_with_terminal_only_at_the_end(connect: Connect) -> None:
    client = connect("desk")
    started = client.start_run(place("desk").agent, ORDER)
    paused = client.wait_for_run(started.run_id)
    assert (paused.status, [each.kind for each in paused.pending]) == ("WaitingForHITL", ["approval"])
    with pytest.raises(TimeoutError):
        client.wait_for_run(started.run_id, until="terminal", timeout=0.3)
    [task] = client.pending_tasks(started.run_id)
    assert client.answer_task(started.run_id, task, True).pending == ()
    assert client.wait_for_run(started.run_id, until="terminal", poll=0.01).status == "Completed"
    answered = client.get_task(task.user_task_id)
    assert (answered.status, answered.root_run_id) == ("completed", started.run_id)


def test_a_start_that_waits_is_answered_at_the_pause(connect: Connect) -> None:
    client = connect("desk")
    started = client.start_run(place("desk").agent, ORDER, wait_seconds=20, tags=["vip"], metadata={"by": "test"})
    assert (started.status, [each.kind for each in started.pending]) == ("WaitingForHITL", ["approval"])
    mine = [task for task in client.list_tasks(status="pending").items if task.run_id == started.run_id]
    assert [task.arguments for task in mine] == [{"amount": 180}]
    assert client.get_session(started.session_id).tags == ("vip",)


def test_a_question_a_text_a_number_and_an_option_are_answered_each_in_its_way(connect: Connect) -> None:
    client = connect("asking")
    asked: list[str] = []

    def on_task(task: types.TaskItem) -> TaskDecision:
        asked.append(task.prompt or "")
        if task.kind == "text":
            return TaskDecision(text_value="It broke. 😀")
        return TaskDecision(number_value=2) if task.kind == "number" else TaskDecision(selected_option_id="blue")

    def on_reply(run: types.RunStatus) -> str:
        asked.append(run.pending[0].prompt)
        return "A-1042 – größer"

    for on_event in (None, lambda event: None):
        asked.clear()
        run = client.run_to_end(place("asking").agent, {}, on_task=on_task, on_reply=on_reply, on_event=on_event)
        assert (run.status, run.output) == ("Completed", "Thank you.")
        assert asked == ["Which order?", "Why?", "How many?", "Which?"]
    items = client.get_conversation(run.run_id).items
    results = [each.content.result for each in items if isinstance(each, types.ToolResultItem) and each.content]
    assert results == ["A-1042 – größer", "It broke. 😀", 2, "blue"]


def test_a_task_that_is_left_alone_leaves_the_run_waiting_and_follow_run_takes_it_up_again(connect: Connect) -> None:
    client = connect("desk")
    left = client.run_to_end(place("desk").agent, ORDER, on_task=lambda task: None)
    assert left.status == "WaitingForHITL"
    events: list[str] = []
    again = client.follow_run(left.run_id, on_event=lambda event: events.append(event.subject))
    assert (again.status, "engine.run.paused" in events) == ("WaitingForHITL", True)
    no = TaskDecision(approved=False, comment="too much")
    # The script has no other answer.
    assert client.follow_run(left.run_id, on_task=lambda task: no).status == "Failed"
    [answer] = [
        each for each in client.get_conversation(left.run_id).items if isinstance(each, types.UserTaskResItem)
    ]
    assert answer.content and (answer.content.approved, answer.content.comment) == (False, "too much")


def test_a_refused_answer_is_an_exception_that_changed_nothing(connect: Connect) -> None:
    client = connect("desk")
    started = client.start_run(place("desk").agent, ORDER, wait_seconds=20)
    [task] = client.pending_tasks(started.run_id)
    client.answer_task(started.run_id, task, True)
    client.wait_for_run(started.run_id)
    with pytest.raises(TaskAlreadyCompletedError) as refused:
        client.answer_task(started.run_id, task, False)
    assert (refused.value.status, refused.value.accepted.code) == (202, "task_already_completed")
    with pytest.raises(AnswerRefusedError):
        client.send_run_message(started.run_id, "hello")


def test_a_key_that_starts_runs_does_not_approve_them(connect: Connect) -> None:
    client = connect("starter")
    started = client.start_run(place("starter").agent, ORDER, wait_seconds=20)
    [task] = client.pending_tasks(started.run_id)
    with pytest.raises(ApprovalNotAllowedError) as refused:
        client.answer_task(started.run_id, task, True)
    error = refused.value
    assert (error.status, error.code, bool(error.request_id)) == (403, "approval_not_allowed", True)
    asked: list[str] = []
    with pytest.raises(TimeoutError, match="goes on"):
        client.follow_run(started.run_id, on_task=lambda task: asked.append(task.title), timeout=0.5)
    assert (asked, client.get_run(started.run_id).status) == ([], "WaitingForHITL")


def test_sessions_are_continued_listed_labelled_and_erased(connect: Connect) -> None:
    client = connect("chat")
    agent = place("chat").agent
    first = client.run_to_end(agent, {"message": "one"})
    second = client.continue_session(agent, first.session_id, {"message": "two"}, wait_seconds=20)
    assert (second.session_id, second.output) == (first.session_id, "You said two.")
    labelled = client.update_session(first.session_id, title="Two", tags=[f"t-{first.session_id[:8]}"])
    assert (labelled.title, labelled.run_count) == ("Two", 2)
    assert client.update_session(first.session_id, title=None).title is None
    for word in "abc":
        client.run_to_end(agent, {"message": word})
    ids = [session.id for session in client.iterate_sessions(agent, take=2)]
    assert len(ids) == len(set(ids)) >= 4
    [tagged] = client.list_sessions(agent, tag=f"t-{first.session_id[:8]}").items
    assert tagged.id == first.session_id
    erased = client.delete_session(first.session_id)
    assert (bool(erased.erased_at), erased.output) == (True, None)
    with pytest.raises(ConflictError):
        client.continue_session(agent, first.session_id, {"message": "three"})


def test_a_session_that_goes_on_is_not_continued(connect: Connect) -> None:
    client = connect("desk")
    started = client.start_run(place("desk").agent, ORDER, wait_seconds=20)
    with pytest.raises(SessionNotEndedError):
        client.continue_session(place("desk").agent, started.session_id, ORDER)


def test_the_same_idempotency_key_starts_nothing_twice(connect: Connect) -> None:
    client = connect("chat")
    runs = [
        client.start_run(place("chat").agent, {"message": "once"}, idempotency_key=f"key-{id(client)}") for _ in "ab"
    ]
    assert runs[0].run_id == runs[1].run_id and runs[1].duplicate_delivery is True


def test_a_signal_reaches_the_run_that_waits_for_it(connect: Connect) -> None:
    client = connect("waiting")
    started = client.start_run(place("waiting").agent, {})
    while (hold := client.get_run(started.run_id).hold) is None:
        time.sleep(0.01)
    assert hold.reason == "signal"
    with pytest.raises(AnswerRefusedError):
        client.send_signal(started.run_id, "other")
    client.send_signal(started.run_id, "paid", {"by": "Ana"})
    assert client.wait_for_run(started.run_id, until="terminal").output == "Paid."


def test_a_value_that_came_as_a_reference_is_read_by_it(connect: Connect) -> None:
    client = connect("chat")
    run = client.run_to_end(place("chat").agent, {"message": "ü" * 5000})
    conversation = client.get_conversation(run.run_id, values="ref")
    reference = value_reference(conversation.session.output)
    assert reference is not None and value_reference(run.output) is None
    assert client.get_value(reference) == run.output


def test_files_are_uploaded_and_referred_to(connect: Connect, tmp_path: Any) -> None:
    client = connect("desk")
    path = tmp_path / "größe – 😀.csv"
    path.write_bytes(b"a,b\n1,2\n")
    upload = client.upload_workspace_file(path)
    assert upload.media_type == "text/csv"
    given: dict[str, object] = {**ORDER, "receipt": file_ref(upload)}
    started = client.start_run(place("desk").agent, given, wait_seconds=20)
    [message] = [
        each for each in client.get_conversation(started.run_id).items if isinstance(each, types.UserMessageItem)
    ]
    assert message.content and [file.filename for file in message.content.files] == [upload.filename]
    assert file_item(upload)["objectKey"].endswith(upload.filename)
