# Written by scripts/python.js from schemas/openapi.yaml.
"""What the server sends, read into frozen dataclasses. A field that it left out is None, or an empty tuple;
`raw` of each has everything as it came, also what this client does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypedDict

from ._shape import Shape

JsonValue: TypeAlias = Any
"""Any value of JSON."""
JsonObject: TypeAlias = Mapping[str, Any]
Timestamp: TypeAlias = str
NullableTimestamp: TypeAlias = str | None
AnyValue: TypeAlias = JsonValue
"""Any JSON value; a ValueReference in its place where the answer would be too large."""
Metadata: TypeAlias = Mapping[str, str]
"""Texts of the caller's own, never shown to the model: at most 16, names of at most 64 bytes,
values of at most 512, 10 KiB in all."""
Tags: TypeAlias = tuple[str, ...]
"""At most 10 different texts of at most 64 bytes, by which sessions are listed."""


class _FileReferenceNeeds(TypedDict):
    svcFile: Literal[True]
    filename: str
    """The segment after the last slash of the finalized objectKey."""


class FileReference(_FileReferenceNeeds, total=False):
    mediaType: str


class _FileItemNeeds(TypedDict):
    svcFile: Literal[True]
    objectKey: str


class FileItem(_FileItemNeeds, total=False):
    filename: str
    mediaType: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDetail(Shape):
    path: str
    """JSON pointer into the request."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRunResponse(Shape):
    session_id: str
    run_id: str
    status: RunStatusWord
    total_tokens_used: float
    """Of the calls of this run itself; those of its sub-agents count in their own runs."""
    output: JsonValue
    error: str | None = None
    agent_id: str | None = None
    trigger_id: str | None = None
    duplicate_delivery: bool | None = None
    pending: PendingAnswers = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAnswer(Shape):
    kind: Literal["approval", "multi_option", "text", "number", "escalation", "aitl_escalation", "anomaly_review", "reply"] | str
    """reply is answered with text, everything else with its userTaskId."""
    run_id: str
    """The run that waits."""
    user_task_id: str | None = None
    prompt: str
    schema: JsonObject | None = None
    """JSON Schema of textValue or numberValue; that of an object is of the JSON in textValue."""
    options: tuple[TaskOption, ...] = ()
    call: PendingCall | None = None
    expires_at: NullableTimestamp
    on_timeout: str | None
    """What happens at expiresAt: deny, allow or escalate."""
    votes: PendingVotes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCall(Shape):
    """The call that waits for an approval."""

    name: str
    arguments: AnyValue
    digest: str
    """Of the arguments, as svc/arguments_digest takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingVotes(Shape):
    have: int
    need: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFields(Shape):
    """The members of a user task; those that do not apply are absent. Null as content of an erased
    step."""

    user_task_id: str
    kind: Literal["approval", "multi_option", "text", "number", "escalation", "aitl_escalation", "anomaly_review"] | str
    """The last three are answered by operators alone."""
    title: str
    prompt: str | None = None
    reason: str | None = None
    status: Literal["pending", "completed", "expired", "cancelled"] | str
    tool: TaskTool | None = None
    summary: str | None = None
    """What the call does, as its tool declares in svc/summary."""
    reasoning: str | None = None
    """The last words of the model before its call; cut."""
    evidence: tuple[TaskEvidence, ...] = ()
    arguments: AnyValue | None = None
    arguments_digest: str | None = None
    """What svc/arguments_digest of an answer repeats."""
    policies: tuple[DecidedPolicy, ...] = ()
    authority_ref: str | None = None
    effect: TaskEffect | None = None
    sources: Mapping[str, Sequence[str]] | None = None
    """Who handed over the arguments that a policy asked about, by path: input, person,
    tool:acme.crm.lookup and others."""
    approvals_required: int | None = None
    approval_proof: Literal["none", "link", "key", "ssh", "passkey", "hardware"] | str | None = None
    """The least proof of an approval that counts, weakest first; absent where none is asked for."""
    approvals_received: int | None = None
    edits: tuple[TaskEdit, ...] = ()
    comprehension_required: bool | None = None
    bulk: bool | None = None
    """The policies let it be approved together with others, although it cannot be undone."""
    context: JsonObject | None = None
    question: TaskQuestion | None = None
    options: tuple[TaskOption, ...] = ()
    min: float | None = None
    max: float | None = None
    on_reject: str | None = None
    on_modify: str | None = None
    expires_at: Timestamp | None = None
    on_timeout: str | None = None
    """What happens at expires_at: deny, allow or escalate."""
    completable_via: tuple[Literal["api", "operator"] | str, ...] = ()
    """`api`: a key may answer it; an approval only where its trigger has `allowApprovals`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContent(TaskFields):
    """A user task, as in events of kind user_task."""

    user_task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskQuestion(Shape):
    """Set where the server of a tool asks a person in the middle of a call. It wrote the prompt and
    the schema, and may be answered with `approved` false, which declines; with
    `metadata["svc/cancel"]` true beside it, the question is closed without an answer."""

    server: str
    """The MCP server as the agent names it."""
    tool: str
    """Logical id of the tool that was called."""
    schema: JsonObject | None = None
    """Of the answer. That of several fields is their JSON object, as textValue."""
    url: str | None = None
    """An address that a person opens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTool(Shape):
    """The tool that a task is about."""

    name: str
    ref: str
    version: str
    side_effect_class: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvidence(Shape):
    """A result that the run had before, about an argument of the held call; or the verdict of a
    sub-agent."""

    ref: str
    """Tool or agent."""
    about: tuple[str, ...] = ()
    """Arguments of the held call that its request or its result has."""
    result: str
    """JSON in one line; cut."""
    failed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEffect(Shape):
    """The effect key of the call that a task is about, and the earlier call with it."""

    key: str
    previous: JsonObject | None = None
    """tool, run_id, agent, version, at, age_seconds, outcome (done, in_flight or unknown),
    same_args and approved_by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOption(Shape):
    id: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEdit(Shape):
    """Who edited the arguments of a task, and the decision if the policies decided again. The last
    edit is arguments."""

    edited_by: str
    edited_at: Timestamp
    arguments_digest: str
    decision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedPolicy(Shape):
    """A policy as a decision names it."""

    id: str
    version: str
    decision: str
    matched: bool | None
    """Whether its condition was true; null where that could not be told."""
    reason: str | None
    authority_ref: str | None
    source: str | None = None
    """Document and line."""
    condition: str | None = None
    """The condition with the values that it saw: `args.amount > 100 (180)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskItem(TaskContent):
    """A user task with the runs that it belongs to."""

    run_id: str
    """The run that asks."""
    root_run_id: str
    """The root run of its session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskList(Shape):
    items: tuple[TaskItem, ...] = ()
    next_cursor: str | None
    """Where the next page begins; null at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus(Shape):
    run_id: str
    status: RunStatusWord
    output: JsonValue
    error: str | None = None
    error_code: Literal["limit_exceeded", "output_invalid", "model_error", "outage", "completion_truncated", "completion_filtered", "tool_failed", "rejected", "repeated_denial", "policy_error", "state_not_saved", "cancelled", "internal"] | str | None = None
    """Why the run failed, for programs."""
    session_id: str
    agent_id: str
    agent_version_id: str
    version_label: str
    total_tokens_used: float
    """Of the calls of this run itself; those of its sub-agents count in their own runs."""
    started_at: Timestamp
    finished_at: NullableTimestamp
    hold: Hold | None = None
    retry_of: str | None = None
    """The run that an operator started again as this one."""
    fork_of: str | None = None
    """The run whose first steps this one took over."""
    fork_step: int | None = None
    """Ordinal of the last step that it took over."""
    undo_of: str | None = None
    """The run that made the call which this one undoes."""
    undone_call: str | None = None
    """The call that it undoes."""
    cost: Cost | None = None
    pending: PendingAnswers = ()
    erased_at: Timestamp | None = None
    """When the content of its session was erased; output and error are gone from then on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Shape):
    """What completions cost, for operators alone; absent where nothing was billed."""

    amounts: Mapping[str, str]
    """Exact decimal text by currency."""
    unpriced: int
    """Completions whose price is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold(Shape):
    """Why a run that has not ended does nothing for now. Keep polling."""

    reason: Literal["restored", "storage_full", "paused", "timer", "signal", "external", "provider_unreachable", "tool_unreachable", "mcp_unreachable", "files_unreachable", "secret_missing", "quota_spent"] | str
    """`restored`: it came from a backup, and an operator has yet to release it. `paused`: an
    operator paused it, or a checkpoint of the audit is missing. `timer`, `signal`, `external`:
    it waits for a time, for a signal, or for work outside that reports its end. `quota_spent`:
    the account's quota at the model's vendor, or what the workspace may spend in a day. The
    others: a model, tool, MCP server, storage of files or secret that the run needs cannot be
    reached or used. Except for `restored` and `paused`, the run goes on by itself when it can."""
    since: Timestamp
    next_attempt_at: Timestamp | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueReference(Shape):
    """Stands for an AnyValue that would make its answer larger than 8 MiB; the largest values are
    replaced first. GET the url for the value."""

    svc_value: str
    """sha256: and the digest of the body that url answers."""
    bytes: int
    url: str
    """Path on this server; needs the same key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Shape):
    id: str
    tenant_id: str
    """Workspace."""
    agent_id: str
    agent_version_id: str
    llm_model: str | None
    trigger_type: Literal["api", "scheduled", "operator"] | str
    triggered_by: str | None
    trigger_id: str | None
    trigger_name: str | None
    status: RunStatusWord
    total_tokens_used: float
    """Of the calls of this run itself; those of its sub-agents count in their own runs."""
    output: AnyValue
    error: str | None
    started_at: Timestamp
    finished_at: NullableTimestamp
    input: AnyValue
    start_context: JsonObject | None
    title: str | None = None
    metadata: Metadata | None = None
    tags: Tags = ()
    erased_at: Timestamp | None = None
    """When its content was erased; input, output, error, startContext and the contents of its items
    are null since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionListItem(Session):
    root_run_id: str | None
    """The newest root run; status, output, input and version are its own."""
    run_count: float
    entry_run_id: str | None
    """The first root run."""
    cost: Cost | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionList(Shape):
    items: tuple[SessionListItem, ...] = ()
    total: float
    next_cursor: str | None = None
    """Where the next page begins; null at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary(Shape):
    id: str
    session_id: str
    agent_id: str
    agent_version_id: str
    parent_run_id: str | None
    depth: float
    status: RunStatusWord
    total_tokens_used: float
    """Of the calls of this run itself; those of its sub-agents count in their own runs."""
    output: AnyValue
    error: str | None
    started_at: NullableTimestamp
    finished_at: NullableTimestamp
    trigger_type: Literal["api", "scheduled", "operator"] | str
    triggered_by: str | None
    trigger_id: str | None
    trigger_name: str | None
    input: AnyValue
    llm_model: str | None
    agent_name: str | None
    version_label: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation(Shape):
    session: Session
    runs: tuple[RunSummary, ...] = ()
    runs_left_out: int | None = None
    """How many of the oldest runs `runs` leaves out; absent up to 4,000 runs."""
    items: tuple[TimelineItem, ...] = ()
    next_cursor: str | None = None
    """Where the next page begins; null at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAccepted(Shape):
    status: RunStatusWord
    error: str | None = None
    """The follow-up was rejected and changed nothing."""
    user_task_id: str | None = None
    code: Literal["task_not_found", "task_already_completed", "operator_only", "invalid_value", "acknowledgement_required", "run_not_waiting", "arguments_changed", "digest_required", "not_an_approver", "run_not_working", "steering_full", "signal_not_awaited"] | str | None = None
    """Why the follow-up was rejected, for programs."""
    duplicate: bool | None = None
    duplicate_delivery: bool | None = None
    """The answer to an earlier request with this Idempotency-Key."""
    pending: PendingAnswers = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionAccepted(Shape):
    run_id: str
    status: RunStatusWord
    duplicate: bool | None = None
    """The same report had ended the call before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled(Shape):
    run_id: str
    status: RunStatusWord


@dataclass(frozen=True, slots=True, kw_only=True)
class Presigned(Shape):
    object_key: str
    upload_url: str
    http_method: Literal["PUT"]
    required_headers: Mapping[str, str]
    expires_in_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalized(Shape):
    object_key: str
    filename: str
    """The last segment of objectKey; what a FileReference names."""
    media_type: str
    size_bytes: int
    already_finalized: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineItemBase(Shape):
    """What every item of the timeline has."""

    run_id: str
    id: str
    sequence: float
    """Monotonic per run."""
    ordinal: float
    """1-based position in the whole session."""
    type: str
    tokens_used: float | None
    error: str | None
    started_at: NullableTimestamp
    finished_at: NullableTimestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContent(Shape):
    """What every content has; the ids are absent with stepContent=slim. Null once the session was
    erased."""

    step_kind: str
    """The item's type."""
    session_id: str | None = None
    run_id: str | None = None
    tenant_id: str | None = None
    agent_id: str | None = None
    agent_version_id: str | None = None
    event_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessageItem(TimelineItemBase):
    type: Literal["UserMessage"]
    content: UserMessageContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningItem(TimelineItemBase):
    type: Literal["Reasoning"]
    content: ReasoningContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDecisionItem(TimelineItemBase):
    type: Literal["PolicyDecision"]
    content: PolicyDecisionContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallItem(TimelineItemBase):
    type: Literal["ToolCall"]
    content: ToolCallContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultItem(TimelineItemBase):
    type: Literal["ToolResult"]
    content: ToolResultContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTaskReqItem(TimelineItemBase):
    type: Literal["UserTaskReq"]
    content: UserTaskReqContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTaskResItem(TimelineItemBase):
    type: Literal["UserTaskRes"]
    content: UserTaskResContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentCallItem(TimelineItemBase):
    type: Literal["SubAgentCall"]
    content: SubAgentCallContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentResultItem(TimelineItemBase):
    type: Literal["SubAgentResult"]
    content: SubAgentResultContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AitlRequestItem(TimelineItemBase):
    type: Literal["AitlRequest"]
    content: AitlRequestContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AitlResponseItem(TimelineItemBase):
    type: Literal["AitlResponse"]
    content: AitlResponseContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReachedItem(TimelineItemBase):
    type: Literal["LimitReached"]
    content: LimitReachedContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputValidationItem(TimelineItemBase):
    type: Literal["OutputValidation"]
    content: OutputValidationContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputItem(TimelineItemBase):
    type: Literal["Output"]
    content: OutputContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumedItem(TimelineItemBase):
    type: Literal["RunResumed"]
    content: RunResumedContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRequestedItem(TimelineItemBase):
    type: Literal["UndoRequested"]
    content: UndoRequestedContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCompletedItem(TimelineItemBase):
    type: Literal["RunCompleted"]
    content: CompletedContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCompletedItem(TimelineItemBase):
    type: Literal["SessionCompleted"]
    content: CompletedContent | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessageContent(StepContent):
    """What the run was asked, or a reply to it."""

    text: str
    files: tuple[MessageFile, ...] = ()
    reply_to: str | None = None
    """The call that asked, for a reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFile(Shape):
    filename: str
    media_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningContent(StepContent):
    """A completion of the model."""

    text: str
    model: str
    provider: str
    response_model: str | None = None
    """The model that answered, where the provider names another one."""
    finish_reason: str
    """error where the model gave no answer."""
    usage: CompletionUsage
    cost: CompletionCost | None = None
    fallback_after: tuple[FailedModel, ...] = ()
    """Models that failed before the one that answered."""
    tool_calls: tuple[ProposedCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionUsage(Shape):
    """Tokens of a completion. The totals include the parts: cached and written tokens are input,
    reasoning is output. A part that the provider did not report is absent."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    estimated: Literal[True] | None = None
    """The provider reported no possible number for one of the totals, so it is estimated from the
    texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionCost(Shape):
    """What the completion cost, in exact decimal text; absent where the price is not known."""

    amount: str
    currency: str
    price_version: str
    parts: CostParts


@dataclass(frozen=True, slots=True, kw_only=True)
class CostParts(Shape):
    input: str | None = None
    cached_input: str | None = None
    cache_write: str | None = None
    output: str | None = None
    reasoning: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedModel(Shape):
    model: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall(Shape):
    id: str
    name: str
    arguments: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDecisionContent(StepContent):
    """What the policies decided about a call."""

    tool_call_id: str
    """Id that the model gave the call."""
    name: str
    decision: Literal["allow", "deny", "require_approval", "escalate"] | str
    policies: tuple[DecidedPolicy, ...] = ()
    explanation: str
    reason: str | None = None
    """Why no policy could decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallContent(StepContent):
    """A call that was sent to its tool."""

    tool_call_id: str
    """Id that the model gave the call."""
    name: str
    ref: str
    """Logical id of the tool."""
    version: str
    arguments: AnyValue
    side_effect_class: str | None
    attempt: int
    idempotency_key: str
    """The same for every attempt."""
    route: Literal["mcp", "command", "http", "openapi", "builtin", "mock"] | str
    probe_of: str | None = None
    """The call of unknown outcome that an operator looked into, by this call."""
    asked_by: str | None = None
    """The operator who looked into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultContent(StepContent):
    """The result of a call, as the model reads it."""

    tool_call_id: str
    """Id that the model gave the call."""
    name: str
    result: AnyValue
    is_error: bool
    duration_ms: float
    probe_of: str | None = None
    """The call of unknown outcome that an operator looked into, by this call."""
    asked_by: str | None = None
    """The operator who looked into it."""
    undone: str | None = None
    """In a fork, what of it an operator has undone since, as the model is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTaskReqContent(StepContent):
    """A task that somebody is asked to decide, as it stands now."""

    user_task_id: str
    kind: Literal["approval", "multi_option", "text", "number", "escalation", "aitl_escalation", "anomaly_review"] | str
    """The last three are answered by operators alone."""
    title: str
    prompt: str | None = None
    reason: str | None = None
    status: Literal["pending", "completed", "expired", "cancelled"] | str
    tool: TaskTool | None = None
    summary: str | None = None
    """What the call does, as its tool declares in svc/summary."""
    reasoning: str | None = None
    """The last words of the model before its call; cut."""
    evidence: tuple[TaskEvidence, ...] = ()
    arguments: AnyValue | None = None
    arguments_digest: str | None = None
    """What svc/arguments_digest of an answer repeats."""
    policies: tuple[DecidedPolicy, ...] = ()
    authority_ref: str | None = None
    effect: TaskEffect | None = None
    sources: Mapping[str, Sequence[str]] | None = None
    """Who handed over the arguments that a policy asked about, by path: input, person,
    tool:acme.crm.lookup and others."""
    approvals_required: int | None = None
    approval_proof: Literal["none", "link", "key", "ssh", "passkey", "hardware"] | str | None = None
    """The least proof of an approval that counts, weakest first; absent where none is asked for."""
    approvals_received: int | None = None
    edits: tuple[TaskEdit, ...] = ()
    comprehension_required: bool | None = None
    bulk: bool | None = None
    """The policies let it be approved together with others, although it cannot be undone."""
    context: JsonObject | None = None
    question: TaskQuestion | None = None
    options: tuple[TaskOption, ...] = ()
    min: float | None = None
    max: float | None = None
    on_reject: str | None = None
    on_modify: str | None = None
    expires_at: Timestamp | None = None
    on_timeout: str | None = None
    """What happens at expires_at: deny, allow or escalate."""
    completable_via: tuple[Literal["api", "operator"] | str, ...] = ()
    """`api`: a key may answer it; an approval only where its trigger has `allowApprovals`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTaskResContent(StepContent):
    """The answer to a task, or its end without one."""

    user_task_id: str
    outcome: Literal["approved", "rejected", "answered", "timed_out", "cancelled"] | str
    approved: bool | None
    selected_option_id: str | None
    text_value: str | None
    number_value: float | None
    completed_by: str | None
    comment: str | None
    metadata: JsonObject | None
    claimed_email: str | None = None
    """completedByEmail as a client claimed it."""
    channel: Literal["api", "operator", "console", "slack", "email", "scenario"] | str | None = None
    """How the answer came; absent where nobody gave it."""
    proof: Literal["none", "link", "key", "ssh", "passkey", "hardware"] | str | None = None
    """What proved that it was this person, weakest first; absent where nobody answered."""
    votes: tuple[TaskVote, ...] = ()
    """Where several people were asked, what each of them said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVote(Shape):
    """One of several votes."""

    by: str
    approved: bool
    channel: str | None = None
    proof: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentCallContent(StepContent):
    """A call that started a sub-agent."""

    tool_call_id: str
    """Id that the model gave the call."""
    name: str
    child_run_id: str
    agent: str
    version: str
    input: AnyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentResultContent(StepContent):
    """How the run of a sub-agent ended."""

    tool_call_id: str
    """Id that the model gave the call."""
    child_run_id: str
    status: RunStatusWord
    output: AnyValue
    steps: AnyValue | None = None
    """Type and content of the steps of the sub-agent, where it is bound with the result full."""
    undone: str | None = None
    """In a fork, what of it an operator has undone since, as the model is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AitlRequestContent(StepContent):
    """A question to the model of the parent."""

    request_id: str
    question: str
    context: AnyValue | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AitlResponseContent(StepContent):
    """The answer to a question of a sub-agent."""

    request_id: str
    answer: str
    answered_by: Literal["parent", "person"] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReachedContent(StepContent):
    """A limit stopped the run, an operator is asked about it, or older messages are left out of the
    prompt because of it."""

    limit: str
    value: float | str
    """A number, or an amount of money as text."""
    used: float | str
    """What had been used of it, likewise."""
    action: Literal["halt", "escalate", "leave_out", "summarise"] | str
    left_out: LeftOutMessages | None = None
    summary: str | None = None
    """What the model is given in place of the messages."""
    model: str | None = None
    """That made the summary."""
    provider: str | None = None
    usage: CompletionUsage | None = None
    cost: CompletionCost | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOutMessages(Shape):
    """What later prompts leave out between the first message and the steps after an ordinal."""

    messages: int
    through_ordinal: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputValidationContent(StepContent):
    """Whether an answer is what the agent was to give."""

    valid: bool
    errors: tuple[ErrorDetail, ...] = ()
    action: Literal["accept", "retry", "repair", "escalate", "fail"] | str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumedContent(StepContent):
    """An operator resumed the run after it had ended or while it was held."""

    resumed_by: str
    reason: str | None
    status: RunStatusWord
    """The status before."""
    error: str | None
    """The error before."""
    version: str | None = None
    """Version of the agent that it goes on with, where it is another one."""
    from_version: str | None = None
    granted: tuple[str, ...] = ()
    """Limits that were granted again, once a grant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRequestedContent(StepContent):
    """An operator asked to undo a call; the first step of the run that undoes it."""

    undoes: JsonObject
    """The call that is undone."""
    name: str
    """Name of the tool that undoes it."""
    ref: str
    arguments: AnyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputContent(StepContent):
    """The result of the run."""

    output: AnyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedContent(StepContent):
    """How a run or a session ended."""

    status: RunStatusWord
    output: AnyValue
    error: str | None
    cancelled_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEventBase(Shape):
    """What every event has."""

    ts: Timestamp
    kind: str
    subject: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEvent(StreamEventBase):
    """The session of the run."""

    kind: Literal["session"]
    subject: Literal["engine.session.started", "engine.session.paused", "engine.session.resumed", "engine.session.completed", "engine.session.failed", "engine.session.cancelled"]
    data: SessionEventData


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent(StreamEventBase):
    """A run of the session."""

    kind: Literal["run"]
    subject: Literal["engine.run.started", "engine.run.paused", "engine.run.resumed", "engine.run.completed", "engine.run.failed", "engine.run.cancelled"]
    data: RunEventData


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutputEvent(StreamEventBase):
    """Text of the answer as it arrives, where the trigger does not expose its timeline; live only,
    without an id."""

    kind: Literal["run"]
    subject: Literal["engine.run.output"]
    data: TextEventData


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentSpawnedEvent(StreamEventBase):
    """A run has started a sub-agent."""

    kind: Literal["run"]
    subject: Literal["engine.subagent.spawned"]
    data: SubAgentSpawnedData


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentCompletedEvent(StreamEventBase):
    """The run of a sub-agent has ended."""

    kind: Literal["run"]
    subject: Literal["engine.subagent.completed"]
    data: SubAgentCompletedData


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEvent(StreamEventBase):
    """A step of the timeline."""

    kind: Literal["step"]
    subject: Literal["engine.step.started", "engine.step.completed", "engine.step.failed"]
    data: StepEventData


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDeltaEvent(StreamEventBase):
    """Text of the model as it arrives; live only, without an id."""

    kind: Literal["step"]
    subject: Literal["engine.step.delta"]
    data: TextEventData


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgressEvent(StreamEventBase):
    """What a tool reports of a call under way, at most every 5 seconds; live only, without an id.
    The text is the tool's."""

    kind: Literal["step"]
    subject: Literal["engine.step.progress"]
    data: ProgressEventData


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTaskEvent(StreamEventBase):
    """A user task."""

    kind: Literal["user_task"]
    subject: Literal["engine.user_task.created", "engine.user_task.voted", "engine.user_task.completed", "engine.user_task.expired", "engine.user_task.cancelled"]
    data: UserTaskEventData


@dataclass(frozen=True, slots=True, kw_only=True)
class AitlQuestionEvent(StreamEventBase):
    """A sub-agent asks the model of its parent, or its question goes to a person."""

    kind: Literal["aitl"]
    subject: Literal["engine.aitl.requested", "engine.aitl.escalated"]
    data: AitlQuestionData


@dataclass(frozen=True, slots=True, kw_only=True)
class AitlAnswerEvent(StreamEventBase):
    """A sub-agent has its answer."""

    kind: Literal["aitl"]
    subject: Literal["engine.aitl.answered"]
    data: AitlAnswerData


@dataclass(frozen=True, slots=True, kw_only=True)
class EventData(Shape):
    session_id: str
    run_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEventData(EventData):
    status: RunStatusWord
    output: JsonValue = None
    error: str | None = None
    hold: Hold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEventData(EventData):
    status: RunStatusWord
    output: JsonValue = None
    error: str | None = None
    error_code: str | None = None
    cancelled_by: str | None = None
    pending: PendingAnswers = ()
    hold: Hold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentSpawnedData(EventData):
    child_run_id: str
    agent_name: str
    depth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAgentCompletedData(EventData):
    child_run_id: str
    agent_name: str
    depth: float
    status: RunStatusWord
    output: JsonValue = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEventData(EventData):
    step: TimelineItem


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEventData(EventData):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressEventData(EventData):
    tool_call_id: str
    progress: float | None = None
    total: float | None = None
    message: str | None = None
    """At most 200 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTaskEventData(EventData):
    task: TaskContent


@dataclass(frozen=True, slots=True, kw_only=True)
class AitlQuestionData(EventData):
    request_id: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AitlAnswerData(EventData):
    request_id: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherTimelineItem(TimelineItemBase):
    """One of a kind that this client does not know: its `type` says which."""

    content: JsonValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherStreamEvent(StreamEventBase):
    """One of a kind that this client does not know: its `subject` says which."""

    data: JsonValue = None


RunStatusWord: TypeAlias = Literal["Running", "WaitingForHITL", "WaitingForAITL", "WaitingForResponse", "Completed", "Failed", "Cancelled"] | str
"""Running; WaitingForHITL, WaitingForAITL, WaitingForResponse; terminal Completed, Failed,
Cancelled. Further words may be added: what is neither terminal nor begins with WaitingFor
means that the work goes on."""
PendingAnswers: TypeAlias = tuple[PendingAnswer, ...]
"""What the run and its descendants wait for; empty when nothing does. While the trigger does
not expose its step timeline, only the question of a run that waits for a reply."""
TimelineItem: TypeAlias = UserMessageItem | ReasoningItem | PolicyDecisionItem | ToolCallItem | ToolResultItem | UserTaskReqItem | UserTaskResItem | SubAgentCallItem | SubAgentResultItem | AitlRequestItem | AitlResponseItem | LimitReachedItem | OutputValidationItem | OutputItem | RunResumedItem | UndoRequestedItem | RunCompletedItem | SessionCompletedItem | OtherTimelineItem
"""An item of the timeline; `type` says what its content holds. Later servers may send further
types; a reader skips those it does not know."""
StreamEvent: TypeAlias = SessionEvent | RunEvent | RunOutputEvent | SubAgentSpawnedEvent | SubAgentCompletedEvent | StepEvent | StepDeltaEvent | StepProgressEvent | UserTaskEvent | AitlQuestionEvent | AitlAnswerEvent | OtherStreamEvent
"""An event of a run's stream; `subject` says what its data holds. Later servers may send
further subjects; a reader skips those it does not know."""

__all__ = [
    "AitlAnswerData",
    "AitlAnswerEvent",
    "AitlQuestionData",
    "AitlQuestionEvent",
    "AitlRequestContent",
    "AitlRequestItem",
    "AitlResponseContent",
    "AitlResponseItem",
    "AnyValue",
    "Cancelled",
    "CompletedContent",
    "CompletionAccepted",
    "CompletionCost",
    "CompletionUsage",
    "Conversation",
    "Cost",
    "CostParts",
    "DecidedPolicy",
    "ErrorDetail",
    "EventData",
    "FailedModel",
    "FileItem",
    "FileReference",
    "Finalized",
    "Hold",
    "JsonObject",
    "JsonValue",
    "LeftOutMessages",
    "LimitReachedContent",
    "LimitReachedItem",
    "MessageAccepted",
    "MessageFile",
    "Metadata",
    "NullableTimestamp",
    "OtherStreamEvent",
    "OtherTimelineItem",
    "OutputContent",
    "OutputItem",
    "OutputValidationContent",
    "OutputValidationItem",
    "PendingAnswer",
    "PendingAnswers",
    "PendingCall",
    "PendingVotes",
    "PolicyDecisionContent",
    "PolicyDecisionItem",
    "Presigned",
    "ProgressEventData",
    "ProposedCall",
    "ReasoningContent",
    "ReasoningItem",
    "RunCompletedItem",
    "RunEvent",
    "RunEventData",
    "RunOutputEvent",
    "RunResumedContent",
    "RunResumedItem",
    "RunStatus",
    "RunStatusWord",
    "RunSummary",
    "Session",
    "SessionCompletedItem",
    "SessionEvent",
    "SessionEventData",
    "SessionList",
    "SessionListItem",
    "Shape",
    "StartRunResponse",
    "StepContent",
    "StepDeltaEvent",
    "StepEvent",
    "StepEventData",
    "StepProgressEvent",
    "StreamEvent",
    "StreamEventBase",
    "SubAgentCallContent",
    "SubAgentCallItem",
    "SubAgentCompletedData",
    "SubAgentCompletedEvent",
    "SubAgentResultContent",
    "SubAgentResultItem",
    "SubAgentSpawnedData",
    "SubAgentSpawnedEvent",
    "Tags",
    "TaskContent",
    "TaskEdit",
    "TaskEffect",
    "TaskEvidence",
    "TaskFields",
    "TaskItem",
    "TaskList",
    "TaskOption",
    "TaskQuestion",
    "TaskTool",
    "TaskVote",
    "TextEventData",
    "TimelineItem",
    "TimelineItemBase",
    "Timestamp",
    "ToolCallContent",
    "ToolCallItem",
    "ToolResultContent",
    "ToolResultItem",
    "UndoRequestedContent",
    "UndoRequestedItem",
    "UserMessageContent",
    "UserMessageItem",
    "UserTaskEvent",
    "UserTaskEventData",
    "UserTaskReqContent",
    "UserTaskReqItem",
    "UserTaskResContent",
    "UserTaskResItem",
    "ValueReference",
]
