# Written by scripts/python.js from schemas/openapi.yaml.
"""By class: its fields as JSON names them, and how the values are read that are more than text and numbers."""

from __future__ import annotations

from . import types
from ._shape import READERS, Union, fields, many, one, one_of, read_shape

TIMELINE_ITEM = Union(
    "type",
    types.OtherTimelineItem,
    {
        "UserMessage": types.UserMessageItem,
        "Reasoning": types.ReasoningItem,
        "PolicyDecision": types.PolicyDecisionItem,
        "ToolCall": types.ToolCallItem,
        "ToolResult": types.ToolResultItem,
        "UserTaskReq": types.UserTaskReqItem,
        "UserTaskRes": types.UserTaskResItem,
        "SubAgentCall": types.SubAgentCallItem,
        "SubAgentResult": types.SubAgentResultItem,
        "AitlRequest": types.AitlRequestItem,
        "AitlResponse": types.AitlResponseItem,
        "LimitReached": types.LimitReachedItem,
        "OutputValidation": types.OutputValidationItem,
        "Output": types.OutputItem,
        "RunResumed": types.RunResumedItem,
        "UndoRequested": types.UndoRequestedItem,
        "RunCompleted": types.RunCompletedItem,
        "SessionCompleted": types.SessionCompletedItem,
    },
)
STREAM_EVENT = Union(
    "subject",
    types.OtherStreamEvent,
    {
        "engine.session.started": types.SessionEvent,
        "engine.session.paused": types.SessionEvent,
        "engine.session.resumed": types.SessionEvent,
        "engine.session.completed": types.SessionEvent,
        "engine.session.failed": types.SessionEvent,
        "engine.session.cancelled": types.SessionEvent,
        "engine.run.started": types.RunEvent,
        "engine.run.paused": types.RunEvent,
        "engine.run.resumed": types.RunEvent,
        "engine.run.completed": types.RunEvent,
        "engine.run.failed": types.RunEvent,
        "engine.run.cancelled": types.RunEvent,
        "engine.run.output": types.RunOutputEvent,
        "engine.subagent.spawned": types.SubAgentSpawnedEvent,
        "engine.subagent.completed": types.SubAgentCompletedEvent,
        "engine.step.started": types.StepEvent,
        "engine.step.completed": types.StepEvent,
        "engine.step.failed": types.StepEvent,
        "engine.step.delta": types.StepDeltaEvent,
        "engine.step.progress": types.StepProgressEvent,
        "engine.user_task.created": types.UserTaskEvent,
        "engine.user_task.voted": types.UserTaskEvent,
        "engine.user_task.completed": types.UserTaskEvent,
        "engine.user_task.expired": types.UserTaskEvent,
        "engine.user_task.cancelled": types.UserTaskEvent,
        "engine.aitl.requested": types.AitlQuestionEvent,
        "engine.aitl.escalated": types.AitlQuestionEvent,
        "engine.aitl.answered": types.AitlAnswerEvent,
    },
)

READERS.update({
    types.ErrorDetail: fields(
        "path message",
    ),
    types.StartRunResponse: fields(
        "sessionId runId status totalTokensUsed output error agentId triggerId duplicateDelivery",
        pending=many(one(types.PendingAnswer)),
    ),
    types.PendingAnswer: fields(
        "kind runId userTaskId prompt schema expiresAt onTimeout",
        options=many(one(types.TaskOption)),
        call=one(types.PendingCall),
        votes=one(types.PendingVotes),
    ),
    types.PendingCall: fields(
        "name arguments digest",
    ),
    types.PendingVotes: fields(
        "have need",
    ),
    types.TaskFields: fields(
        "user_task_id kind title prompt reason status summary reasoning arguments arguments_digest authority_ref sources approvals_required approval_proof approvals_received comprehension_required bulk context min max on_reject on_modify expires_at on_timeout",
        tool=one(types.TaskTool),
        evidence=many(one(types.TaskEvidence)),
        policies=many(one(types.DecidedPolicy)),
        effect=one(types.TaskEffect),
        edits=many(one(types.TaskEdit)),
        question=one(types.TaskQuestion),
        options=many(one(types.TaskOption)),
        completable_via=many(),
    ),
    types.TaskContent: fields(
        "user_task_id kind title prompt reason status summary reasoning arguments arguments_digest authority_ref sources approvals_required approval_proof approvals_received comprehension_required bulk context min max on_reject on_modify expires_at on_timeout",
        tool=one(types.TaskTool),
        evidence=many(one(types.TaskEvidence)),
        policies=many(one(types.DecidedPolicy)),
        effect=one(types.TaskEffect),
        edits=many(one(types.TaskEdit)),
        question=one(types.TaskQuestion),
        options=many(one(types.TaskOption)),
        completable_via=many(),
    ),
    types.TaskQuestion: fields(
        "server tool schema url",
    ),
    types.TaskTool: fields(
        "name ref version side_effect_class",
    ),
    types.TaskEvidence: fields(
        "ref result failed",
        about=many(),
    ),
    types.TaskEffect: fields(
        "key previous",
    ),
    types.TaskOption: fields(
        "id label",
    ),
    types.TaskEdit: fields(
        "edited_by edited_at arguments_digest decision",
    ),
    types.DecidedPolicy: fields(
        "id version decision matched reason authority_ref source condition",
    ),
    types.TaskItem: fields(
        "user_task_id kind title prompt reason status summary reasoning arguments arguments_digest authority_ref sources approvals_required approval_proof approvals_received comprehension_required bulk context min max on_reject on_modify expires_at on_timeout run_id root_run_id",
        tool=one(types.TaskTool),
        evidence=many(one(types.TaskEvidence)),
        policies=many(one(types.DecidedPolicy)),
        effect=one(types.TaskEffect),
        edits=many(one(types.TaskEdit)),
        question=one(types.TaskQuestion),
        options=many(one(types.TaskOption)),
        completable_via=many(),
    ),
    types.TaskList: fields(
        "nextCursor",
        items=many(one(types.TaskItem)),
    ),
    types.RunStatus: fields(
        "runId status output error errorCode sessionId agentId agentVersionId versionLabel totalTokensUsed startedAt finishedAt retryOf forkOf forkStep undoOf undoneCall erasedAt",
        hold=one(types.Hold),
        cost=one(types.Cost),
        pending=many(one(types.PendingAnswer)),
    ),
    types.Cost: fields(
        "amounts unpriced",
    ),
    types.Hold: fields(
        "reason since nextAttemptAt",
    ),
    types.ValueReference: fields(
        "svcValue bytes url",
    ),
    types.Session: fields(
        "id tenantId agentId agentVersionId llmModel triggerType triggeredBy triggerId triggerName status totalTokensUsed output error startedAt finishedAt input startContext title metadata erasedAt",
        tags=many(),
    ),
    types.SessionListItem: fields(
        "id tenantId agentId agentVersionId llmModel triggerType triggeredBy triggerId triggerName status totalTokensUsed output error startedAt finishedAt input startContext title metadata erasedAt rootRunId runCount entryRunId",
        tags=many(),
        cost=one(types.Cost),
    ),
    types.SessionList: fields(
        "total nextCursor",
        items=many(one(types.SessionListItem)),
    ),
    types.RunSummary: fields(
        "id sessionId agentId agentVersionId parentRunId depth status totalTokensUsed output error startedAt finishedAt triggerType triggeredBy triggerId triggerName input llmModel agentName versionLabel",
    ),
    types.Conversation: fields(
        "runsLeftOut nextCursor",
        session=one(types.Session),
        runs=many(one(types.RunSummary)),
        items=many(one_of(TIMELINE_ITEM)),
    ),
    types.MessageAccepted: fields(
        "status error userTaskId code duplicate duplicateDelivery",
        pending=many(one(types.PendingAnswer)),
    ),
    types.CompletionAccepted: fields(
        "runId status duplicate",
    ),
    types.Cancelled: fields(
        "runId status",
    ),
    types.Presigned: fields(
        "objectKey uploadUrl httpMethod requiredHeaders expiresInSeconds",
    ),
    types.Finalized: fields(
        "objectKey filename mediaType sizeBytes alreadyFinalized",
    ),
    types.TimelineItemBase: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
    ),
    types.StepContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id",
    ),
    types.UserMessageItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.UserMessageContent),
    ),
    types.ReasoningItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.ReasoningContent),
    ),
    types.PolicyDecisionItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.PolicyDecisionContent),
    ),
    types.ToolCallItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.ToolCallContent),
    ),
    types.ToolResultItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.ToolResultContent),
    ),
    types.UserTaskReqItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.UserTaskReqContent),
    ),
    types.UserTaskResItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.UserTaskResContent),
    ),
    types.SubAgentCallItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.SubAgentCallContent),
    ),
    types.SubAgentResultItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.SubAgentResultContent),
    ),
    types.AitlRequestItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.AitlRequestContent),
    ),
    types.AitlResponseItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.AitlResponseContent),
    ),
    types.LimitReachedItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.LimitReachedContent),
    ),
    types.OutputValidationItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.OutputValidationContent),
    ),
    types.OutputItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.OutputContent),
    ),
    types.RunResumedItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.RunResumedContent),
    ),
    types.UndoRequestedItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.UndoRequestedContent),
    ),
    types.RunCompletedItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.CompletedContent),
    ),
    types.SessionCompletedItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt",
        content=one(types.CompletedContent),
    ),
    types.UserMessageContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id text reply_to",
        files=many(one(types.MessageFile)),
    ),
    types.MessageFile: fields(
        "filename media_type",
    ),
    types.ReasoningContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id text model provider response_model finish_reason",
        usage=one(types.CompletionUsage),
        cost=one(types.CompletionCost),
        fallback_after=many(one(types.FailedModel)),
        tool_calls=many(one(types.ProposedCall)),
    ),
    types.CompletionUsage: fields(
        "input_tokens output_tokens cached_input_tokens cache_write_tokens reasoning_tokens estimated",
    ),
    types.CompletionCost: fields(
        "amount currency price_version",
        parts=one(types.CostParts),
    ),
    types.CostParts: fields(
        "input cached_input cache_write output reasoning",
    ),
    types.FailedModel: fields(
        "model error",
    ),
    types.ProposedCall: fields(
        "id name arguments",
    ),
    types.PolicyDecisionContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id tool_call_id name decision explanation reason",
        policies=many(one(types.DecidedPolicy)),
    ),
    types.ToolCallContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id tool_call_id name ref version arguments side_effect_class attempt idempotency_key route probe_of asked_by",
    ),
    types.ToolResultContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id tool_call_id name result is_error duration_ms probe_of asked_by undone",
    ),
    types.UserTaskReqContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id user_task_id kind title prompt reason status summary reasoning arguments arguments_digest authority_ref sources approvals_required approval_proof approvals_received comprehension_required bulk context min max on_reject on_modify expires_at on_timeout",
        tool=one(types.TaskTool),
        evidence=many(one(types.TaskEvidence)),
        policies=many(one(types.DecidedPolicy)),
        effect=one(types.TaskEffect),
        edits=many(one(types.TaskEdit)),
        question=one(types.TaskQuestion),
        options=many(one(types.TaskOption)),
        completable_via=many(),
    ),
    types.UserTaskResContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id user_task_id outcome approved selected_option_id text_value number_value completed_by comment metadata claimed_email channel proof",
        votes=many(one(types.TaskVote)),
    ),
    types.TaskVote: fields(
        "by approved channel proof",
    ),
    types.SubAgentCallContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id tool_call_id name child_run_id agent version input",
    ),
    types.SubAgentResultContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id tool_call_id child_run_id status output steps undone",
    ),
    types.AitlRequestContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id request_id question context",
    ),
    types.AitlResponseContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id request_id answer answered_by",
    ),
    types.LimitReachedContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id limit value used action summary model provider",
        left_out=one(types.LeftOutMessages),
        usage=one(types.CompletionUsage),
        cost=one(types.CompletionCost),
    ),
    types.LeftOutMessages: fields(
        "messages through_ordinal",
    ),
    types.OutputValidationContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id valid action",
        errors=many(one(types.ErrorDetail)),
    ),
    types.RunResumedContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id resumed_by reason status error version from_version",
        granted=many(),
    ),
    types.UndoRequestedContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id undoes name ref arguments",
    ),
    types.OutputContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id output",
    ),
    types.CompletedContent: fields(
        "step_kind session_id run_id tenant_id agent_id agent_version_id event_id status output error cancelled_by",
    ),
    types.StreamEventBase: fields(
        "ts kind subject",
    ),
    types.SessionEvent: fields(
        "ts kind subject",
        data=one(types.SessionEventData),
    ),
    types.RunEvent: fields(
        "ts kind subject",
        data=one(types.RunEventData),
    ),
    types.RunOutputEvent: fields(
        "ts kind subject",
        data=one(types.TextEventData),
    ),
    types.SubAgentSpawnedEvent: fields(
        "ts kind subject",
        data=one(types.SubAgentSpawnedData),
    ),
    types.SubAgentCompletedEvent: fields(
        "ts kind subject",
        data=one(types.SubAgentCompletedData),
    ),
    types.StepEvent: fields(
        "ts kind subject",
        data=one(types.StepEventData),
    ),
    types.StepDeltaEvent: fields(
        "ts kind subject",
        data=one(types.TextEventData),
    ),
    types.StepProgressEvent: fields(
        "ts kind subject",
        data=one(types.ProgressEventData),
    ),
    types.UserTaskEvent: fields(
        "ts kind subject",
        data=one(types.UserTaskEventData),
    ),
    types.AitlQuestionEvent: fields(
        "ts kind subject",
        data=one(types.AitlQuestionData),
    ),
    types.AitlAnswerEvent: fields(
        "ts kind subject",
        data=one(types.AitlAnswerData),
    ),
    types.EventData: fields(
        "sessionId runId",
    ),
    types.SessionEventData: fields(
        "sessionId runId status output error",
        hold=one(types.Hold),
    ),
    types.RunEventData: fields(
        "sessionId runId status output error errorCode cancelledBy",
        pending=many(one(types.PendingAnswer)),
        hold=one(types.Hold),
    ),
    types.SubAgentSpawnedData: fields(
        "sessionId runId childRunId agentName depth",
    ),
    types.SubAgentCompletedData: fields(
        "sessionId runId childRunId agentName depth status output error",
    ),
    types.StepEventData: fields(
        "sessionId runId",
        step=one_of(TIMELINE_ITEM),
    ),
    types.TextEventData: fields(
        "sessionId runId text",
    ),
    types.ProgressEventData: fields(
        "sessionId runId toolCallId progress total message",
    ),
    types.UserTaskEventData: fields(
        "sessionId runId",
        task=one(types.TaskContent),
    ),
    types.AitlQuestionData: fields(
        "sessionId runId requestId question",
    ),
    types.AitlAnswerData: fields(
        "sessionId runId requestId answer",
    ),
    types.OtherTimelineItem: fields(
        "runId id sequence ordinal type tokensUsed error startedAt finishedAt content",
    ),
    types.OtherStreamEvent: fields(
        "ts kind subject data",
    ),
})

__all__ = ["STREAM_EVENT", "TIMELINE_ITEM", "many", "one", "one_of", "read_shape"]
