// Written by scripts/openapi.js from schemas/openapi.yaml.

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }
export type JsonObject = { [key: string]: JsonValue }

export type Timestamp = string

export type NullableTimestamp = string | null

/** Running; WaitingForHITL, WaitingForAITL, WaitingForResponse; terminal Completed, Failed, Cancelled. Further words may be added: what is neither terminal nor begins with WaitingFor means that the work goes on. */
export type RunStatusWord =
  | 'Running'
  | 'WaitingForHITL'
  | 'WaitingForAITL'
  | 'WaitingForResponse'
  | 'Completed'
  | 'Failed'
  | 'Cancelled'
  | (string & {})

export interface ErrorBody {
  /** A sentence for people. */
  readonly error: string
  readonly code: string
  readonly details?: readonly ErrorDetail[]
  /** A sentence that says what to do, if it differs from the usual one of the code. */
  readonly fix?: string
  readonly requestId: string
}

export interface ErrorDetail {
  /** JSON pointer into the request. */
  readonly path: string
  readonly message: string
}

export interface StartRunBody {
  /** Must match the input contract of the deployed version; {} when absent. A file of the workspace is a FileReference, wherever the contract has one. */
  readonly input?: JsonObject
  readonly metadata?: Metadata
  readonly tags?: Tags
  /** An ended session of this agent to continue: the run becomes its newest root run, and its model is given the earlier messages and outputs as far as they fit. Metadata and tags in the request replace those of the session. */
  readonly sessionId?: string
  /** With sessionId, the version that the run executes, in place of the deployed one. It was deployed before, is not yanked, and allows no more than the deployed one. A key that starts a new session runs the deployed version. */
  readonly versionId?: string
}

export interface FileReference {
  readonly svcFile: true
  /** The segment after the last slash of the finalized objectKey. */
  readonly filename: string
  readonly mediaType?: string
}

export interface StartRunResponse {
  readonly sessionId: string
  readonly runId: string
  readonly status: RunStatusWord
  /** Of the calls of this run itself; those of its sub-agents count in their own runs. */
  readonly totalTokensUsed: number
  readonly output: JsonValue
  readonly error?: string
  readonly agentId?: string
  readonly triggerId?: string | null
  readonly duplicateDelivery?: boolean
  readonly pending?: PendingAnswers
}

/** What the run and its descendants wait for; empty when nothing does. While the trigger does not expose its step timeline, only the question of a run that waits for a reply. */
export type PendingAnswers = readonly PendingAnswer[]

export interface PendingAnswer {
  /** reply is answered with text, everything else with its userTaskId. */
  readonly kind:
    | 'approval'
    | 'multi_option'
    | 'text'
    | 'number'
    | 'escalation'
    | 'aitl_escalation'
    | 'anomaly_review'
    | 'reply'
    | (string & {})
  /** The run that waits. */
  readonly runId: string
  readonly userTaskId?: string
  readonly prompt: string
  /** JSON Schema of textValue or numberValue; that of an object is of the JSON in textValue. */
  readonly schema?: JsonObject
  readonly options?: readonly TaskOption[]
  readonly call?: PendingCall
  readonly expiresAt: NullableTimestamp
  /** What happens at expiresAt: deny, allow or escalate. */
  readonly onTimeout: string | null
  readonly votes?: PendingVotes
}

/** The call that waits for an approval. */
export interface PendingCall {
  readonly name: string
  readonly arguments: AnyValue
  /** Of the arguments, as svc/arguments_digest takes it. */
  readonly digest: string
}

export interface PendingVotes {
  readonly have: number
  readonly need: number
}

/** A user task, as in events of kind user_task. */
export interface TaskContent extends TaskFields {
  readonly user_task_id: string
}

/** The members of a user task; those that do not apply are absent. Null as content of an erased step. */
export interface TaskFields {
  readonly user_task_id: string
  /** The last three are answered by operators alone. */
  readonly kind:
    | 'approval'
    | 'multi_option'
    | 'text'
    | 'number'
    | 'escalation'
    | 'aitl_escalation'
    | 'anomaly_review'
    | (string & {})
  readonly title: string
  readonly prompt?: string
  readonly reason?: string
  readonly status: 'pending' | 'completed' | 'expired' | 'cancelled' | (string & {})
  readonly tool?: TaskTool
  /** What the call does, as its tool declares in svc/summary. */
  readonly summary?: string
  /** The last words of the model before its call; cut. */
  readonly reasoning?: string
  readonly evidence?: readonly TaskEvidence[]
  readonly arguments?: AnyValue
  /** What svc/arguments_digest of an answer repeats. */
  readonly arguments_digest?: string
  readonly policies?: readonly DecidedPolicy[]
  readonly authority_ref?: string
  readonly effect?: TaskEffect
  /** Who handed over the arguments that a policy asked about, by path: input, person, tool:acme.crm.lookup and others. */
  readonly sources?: Readonly<Record<string, readonly string[]>>
  readonly approvals_required?: number
  /** The least proof of an approval that counts, weakest first; absent where none is asked for. */
  readonly approval_proof?: 'none' | 'link' | 'key' | 'ssh' | 'passkey' | 'hardware' | (string & {})
  readonly approvals_received?: number
  readonly edits?: readonly TaskEdit[]
  readonly comprehension_required?: boolean
  /** The policies let it be approved together with others, although it cannot be undone. */
  readonly bulk?: boolean
  readonly context?: JsonObject
  readonly question?: TaskQuestion
  readonly options?: readonly TaskOption[]
  readonly min?: number
  readonly max?: number
  readonly on_reject?: string
  readonly on_modify?: string
  readonly expires_at?: Timestamp
  /** What happens at expires_at: deny, allow or escalate. */
  readonly on_timeout?: string
  /** `api`: a key may answer it; an approval only where its trigger has `allowApprovals`. */
  readonly completable_via: readonly ('api' | 'operator' | (string & {}))[]
}

/** Set where the server of a tool asks a person in the middle of a call. It wrote the prompt and the schema, and may be answered with `approved` false, which declines; with `metadata["svc/cancel"]` true beside it, the question is closed without an answer. */
export interface TaskQuestion {
  /** The MCP server as the agent names it. */
  readonly server: string
  /** Logical id of the tool that was called. */
  readonly tool: string
  /** Of the answer. That of several fields is their JSON object, as textValue. */
  readonly schema?: JsonObject
  /** An address that a person opens. */
  readonly url?: string
}

/** The tool that a task is about. */
export interface TaskTool {
  readonly name: string
  readonly ref: string
  readonly version: string
  readonly side_effect_class: string | null
}

/** A result that the run had before, about an argument of the held call; or the verdict of a sub-agent. */
export interface TaskEvidence {
  /** Tool or agent. */
  readonly ref: string
  /** Arguments of the held call that its request or its result has. */
  readonly about: readonly string[]
  /** JSON in one line; cut. */
  readonly result: string
  readonly failed?: boolean
}

/** The effect key of the call that a task is about, and the earlier call with it. */
export interface TaskEffect {
  readonly key: string
  /** tool, run_id, agent, version, at, age_seconds, outcome (done, in_flight or unknown), same_args and approved_by. */
  readonly previous?: JsonObject
}

export interface TaskOption {
  readonly id: string
  readonly label: string
}

/** Who edited the arguments of a task, and the decision if the policies decided again. The last edit is arguments. */
export interface TaskEdit {
  readonly edited_by: string
  readonly edited_at: Timestamp
  readonly arguments_digest: string
  readonly decision?: string
}

/** A policy as a decision names it. */
export interface DecidedPolicy {
  readonly id: string
  readonly version: string
  readonly decision: string
  /** Whether its condition was true; null where that could not be told. */
  readonly matched: boolean | null
  readonly reason: string | null
  readonly authority_ref: string | null
  /** Document and line. */
  readonly source?: string
  /** The condition with the values that it saw: `args.amount > 100 (180)`. */
  readonly condition?: string
}

/** A user task with the runs that it belongs to. */
export interface TaskItem extends TaskContent {
  /** The run that asks. */
  readonly run_id: string
  /** The root run of its session. */
  readonly root_run_id: string
}

export interface TaskList {
  readonly items: readonly TaskItem[]
  /** Where the next page begins; null at the end. */
  readonly nextCursor: string | null
}

export interface RunStatus {
  readonly runId: string
  readonly status: RunStatusWord
  readonly output: JsonValue
  readonly error?: string
  /** Why the run failed, for programs. */
  readonly errorCode?:
    | 'limit_exceeded'
    | 'output_invalid'
    | 'model_error'
    | 'outage'
    | 'completion_truncated'
    | 'completion_filtered'
    | 'tool_failed'
    | 'rejected'
    | 'repeated_denial'
    | 'policy_error'
    | 'state_not_saved'
    | 'cancelled'
    | 'internal'
    | (string & {})
  readonly sessionId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly versionLabel: string
  /** Of the calls of this run itself; those of its sub-agents count in their own runs. */
  readonly totalTokensUsed: number
  readonly startedAt: Timestamp
  readonly finishedAt: NullableTimestamp
  readonly hold?: Hold
  /** The run that an operator started again as this one. */
  readonly retryOf?: string
  /** The run whose first steps this one took over. */
  readonly forkOf?: string
  /** Ordinal of the last step that it took over. */
  readonly forkStep?: number
  /** The run that made the call which this one undoes. */
  readonly undoOf?: string
  /** The call that it undoes. */
  readonly undoneCall?: string
  readonly cost?: Cost
  readonly pending?: PendingAnswers
  /** When the content of its session was erased; output and error are gone from then on. */
  readonly erasedAt?: Timestamp
}

/** What completions cost, for operators alone; absent where nothing was billed. */
export interface Cost {
  /** Exact decimal text by currency. */
  readonly amounts: Readonly<Record<string, string>>
  /** Completions whose price is not known. */
  readonly unpriced: number
}

/** Why a run that has not ended does nothing for now. Keep polling. */
export interface Hold {
  /** `restored`: it came from a backup, and an operator has yet to release it. `paused`: an operator paused it, or a checkpoint of the audit is missing. `timer`, `signal`, `external`: it waits for a time, for a signal, or for work outside that reports its end. `quota_spent`: the account's quota at the model's vendor, or what the workspace may spend in a day. The others: a model, tool, MCP server, storage of files or secret that the run needs cannot be reached or used. Except for `restored` and `paused`, the run goes on by itself when it can. */
  readonly reason:
    | 'restored'
    | 'storage_full'
    | 'paused'
    | 'timer'
    | 'signal'
    | 'external'
    | 'provider_unreachable'
    | 'tool_unreachable'
    | 'mcp_unreachable'
    | 'files_unreachable'
    | 'secret_missing'
    | 'quota_spent'
    | (string & {})
  readonly since: Timestamp
  readonly nextAttemptAt?: Timestamp
}

/** Any JSON value; a ValueReference in its place where the answer would be too large. */
export type AnyValue = JsonValue

/** Stands for an AnyValue that would make its answer larger than 8 MiB; the largest values are replaced first. GET the url for the value. */
export interface ValueReference {
  /** sha256: and the digest of the body that url answers. */
  readonly svcValue: string
  readonly bytes: number
  /** Path on this server; needs the same key. */
  readonly url: string
}

/** Texts of the caller's own, never shown to the model: at most 16, names of at most 64 bytes, values of at most 512, 10 KiB in all. */
export type Metadata = Readonly<Record<string, string>>

/** At most 10 different texts of at most 64 bytes, by which sessions are listed. */
export type Tags = readonly string[]

export interface Session {
  readonly id: string
  /** Workspace. */
  readonly tenantId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly llmModel: string | null
  readonly triggerType: 'api' | 'scheduled' | 'operator' | (string & {})
  readonly triggeredBy: string | null
  readonly triggerId: string | null
  readonly triggerName: string | null
  readonly status: RunStatusWord
  /** Of the calls of this run itself; those of its sub-agents count in their own runs. */
  readonly totalTokensUsed: number
  readonly output: AnyValue
  readonly error: string | null
  readonly startedAt: Timestamp
  readonly finishedAt: NullableTimestamp
  readonly input: AnyValue
  readonly startContext: JsonObject | null
  readonly title?: string
  readonly metadata?: Metadata
  readonly tags?: Tags
  /** When its content was erased; input, output, error, startContext and the contents of its items are null since. */
  readonly erasedAt?: Timestamp
}

/** What is given is set, the rest stays. */
export interface SessionPatch {
  /** Null or an empty text removes it. */
  readonly title?: string | null
  readonly metadata?: Metadata
  readonly tags?: Tags
}

export interface SessionListItem extends Session {
  /** The newest root run; status, output, input and version are its own. */
  readonly rootRunId: string | null
  readonly runCount: number
  /** The first root run. */
  readonly entryRunId: string | null
  readonly cost?: Cost
}

export interface SessionList {
  readonly items: readonly SessionListItem[]
  readonly total: number
  /** Where the next page begins; null at the end. */
  readonly nextCursor?: string | null
}

export interface RunSummary {
  readonly id: string
  readonly sessionId: string
  readonly agentId: string
  readonly agentVersionId: string
  readonly parentRunId: string | null
  readonly depth: number
  readonly status: RunStatusWord
  /** Of the calls of this run itself; those of its sub-agents count in their own runs. */
  readonly totalTokensUsed: number
  readonly output: AnyValue
  readonly error: string | null
  readonly startedAt: NullableTimestamp
  readonly finishedAt: NullableTimestamp
  readonly triggerType: 'api' | 'scheduled' | 'operator' | (string & {})
  readonly triggeredBy: string | null
  readonly triggerId: string | null
  readonly triggerName: string | null
  readonly input: AnyValue
  readonly llmModel: string | null
  readonly agentName: string | null
  readonly versionLabel: string | null
}

/** An item of the timeline; `type` says what its content holds. Later servers may send further types; a reader skips those it does not know. */
export type TimelineItem =
  | UserMessageItem
  | ReasoningItem
  | PolicyDecisionItem
  | ToolCallItem
  | ToolResultItem
  | UserTaskReqItem
  | UserTaskResItem
  | SubAgentCallItem
  | SubAgentResultItem
  | AitlRequestItem
  | AitlResponseItem
  | LimitReachedItem
  | OutputValidationItem
  | OutputItem
  | RunResumedItem
  | UndoRequestedItem
  | RunCompletedItem
  | SessionCompletedItem

export interface Conversation {
  readonly session: Session
  readonly runs: readonly RunSummary[]
  /** How many of the oldest runs `runs` leaves out; absent up to 4,000 runs. */
  readonly runsLeftOut?: number
  readonly items: readonly TimelineItem[]
  /** Where the next page begins; null at the end. */
  readonly nextCursor?: string | null
}

/** An event of a run's stream; `subject` says what its data holds. Later servers may send further subjects; a reader skips those it does not know. */
export type StreamEvent =
  | SessionEvent
  | RunEvent
  | RunOutputEvent
  | SubAgentSpawnedEvent
  | SubAgentCompletedEvent
  | StepEvent
  | StepDeltaEvent
  | StepProgressEvent
  | UserTaskEvent
  | AitlQuestionEvent
  | AitlAnswerEvent

/** Needs userTaskId, or a non-empty text or message, or at least one file. */
export interface MessageBody {
  /** Equals the path's. */
  readonly runId: string
  readonly userTaskId?: string
  /** True when absent, for tasks of kind approval. */
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  readonly metadata?: JsonObject
  readonly text?: string
  /** Alias of text. */
  readonly message?: string
  /** For a run at work: its next completion takes up the text. `interrupt` drops the completion under way. Needs text, and no userTaskId. */
  readonly steer?: true | 'interrupt'
  readonly files?: readonly FileItem[]
  /** An email address; kept as a claim, never used as an identity. */
  readonly completedByEmail?: string
}

export interface FileItem {
  readonly svcFile: true
  readonly objectKey: string
  readonly filename?: string
  readonly mediaType?: string
}

export interface MessageAccepted {
  readonly status: RunStatusWord
  /** The follow-up was rejected and changed nothing. */
  readonly error?: string
  readonly userTaskId?: string
  /** Why the follow-up was rejected, for programs. */
  readonly code?:
    | 'task_not_found'
    | 'task_already_completed'
    | 'operator_only'
    | 'invalid_value'
    | 'acknowledgement_required'
    | 'run_not_waiting'
    | 'arguments_changed'
    | 'digest_required'
    | 'not_an_approver'
    | 'run_not_working'
    | 'steering_full'
    | 'signal_not_awaited'
    | (string & {})
  readonly duplicate?: boolean
  /** The answer to an earlier request with this Idempotency-Key. */
  readonly duplicateDelivery?: boolean
  readonly pending?: PendingAnswers
}

export interface SignalBody {
  /** The data of the signal, any JSON; null when absent. */
  readonly data?: JsonValue
}

/** Needs result or error, one of them. */
export interface CompletionBody {
  /** The result of the call, any JSON. */
  readonly result?: JsonValue
  /** Why it failed: a text, or an object with a message. The model reads it as an error of the tool. */
  readonly error?: JsonValue
}

export interface CompletionAccepted {
  readonly runId: string
  readonly status: RunStatusWord
  /** The same report had ended the call before. */
  readonly duplicate?: boolean
}

export interface CancelBody {
  readonly reason?: string
}

export interface Cancelled {
  readonly runId: string
  readonly status: RunStatusWord
}

export interface PresignBody {
  readonly filename: string
  readonly mediaType: string
  /** Upper bound of the upload in bytes. */
  readonly maxContentLength: number
}

export interface Presigned {
  readonly objectKey: string
  readonly uploadUrl: string
  readonly httpMethod: 'PUT'
  readonly requiredHeaders: Readonly<Record<string, string>>
  readonly expiresInSeconds: number
}

export interface FinalizeBody {
  readonly objectKey: string
  readonly maxContentLength: number
  readonly filename?: string
  readonly mediaType?: string
}

export interface Finalized {
  readonly objectKey: string
  /** The last segment of objectKey; what a FileReference names. */
  readonly filename: string
  readonly mediaType: string
  readonly sizeBytes: number
  readonly alreadyFinalized: boolean
}

export interface Health {
  readonly status: 'ready'
}

/** What every item of the timeline has. */
export interface TimelineItemBase {
  readonly runId: string
  readonly id: string
  /** Monotonic per run. */
  readonly sequence: number
  /** 1-based position in the whole session. */
  readonly ordinal: number
  readonly type: string
  readonly tokensUsed: number | null
  readonly error: string | null
  readonly startedAt: NullableTimestamp
  readonly finishedAt: NullableTimestamp
}

/** What every content has; the ids are absent with stepContent=slim. Null once the session was erased. */
export interface StepContent {
  /** The item's type. */
  readonly step_kind: string
  readonly session_id?: string
  readonly run_id?: string
  readonly tenant_id?: string
  readonly agent_id?: string
  readonly agent_version_id?: string
  readonly event_id?: string
}

export interface UserMessageItem extends TimelineItemBase {
  readonly type: 'UserMessage'
  readonly content: UserMessageContent | null
}

export interface ReasoningItem extends TimelineItemBase {
  readonly type: 'Reasoning'
  readonly content: ReasoningContent | null
}

export interface PolicyDecisionItem extends TimelineItemBase {
  readonly type: 'PolicyDecision'
  readonly content: PolicyDecisionContent | null
}

export interface ToolCallItem extends TimelineItemBase {
  readonly type: 'ToolCall'
  readonly content: ToolCallContent | null
}

export interface ToolResultItem extends TimelineItemBase {
  readonly type: 'ToolResult'
  readonly content: ToolResultContent | null
}

export interface UserTaskReqItem extends TimelineItemBase {
  readonly type: 'UserTaskReq'
  readonly content: UserTaskReqContent | null
}

export interface UserTaskResItem extends TimelineItemBase {
  readonly type: 'UserTaskRes'
  readonly content: UserTaskResContent | null
}

export interface SubAgentCallItem extends TimelineItemBase {
  readonly type: 'SubAgentCall'
  readonly content: SubAgentCallContent | null
}

export interface SubAgentResultItem extends TimelineItemBase {
  readonly type: 'SubAgentResult'
  readonly content: SubAgentResultContent | null
}

export interface AitlRequestItem extends TimelineItemBase {
  readonly type: 'AitlRequest'
  readonly content: AitlRequestContent | null
}

export interface AitlResponseItem extends TimelineItemBase {
  readonly type: 'AitlResponse'
  readonly content: AitlResponseContent | null
}

export interface LimitReachedItem extends TimelineItemBase {
  readonly type: 'LimitReached'
  readonly content: LimitReachedContent | null
}

export interface OutputValidationItem extends TimelineItemBase {
  readonly type: 'OutputValidation'
  readonly content: OutputValidationContent | null
}

export interface OutputItem extends TimelineItemBase {
  readonly type: 'Output'
  readonly content: OutputContent | null
}

export interface RunResumedItem extends TimelineItemBase {
  readonly type: 'RunResumed'
  readonly content: RunResumedContent | null
}

export interface UndoRequestedItem extends TimelineItemBase {
  readonly type: 'UndoRequested'
  readonly content: UndoRequestedContent | null
}

export interface RunCompletedItem extends TimelineItemBase {
  readonly type: 'RunCompleted'
  readonly content: CompletedContent | null
}

export interface SessionCompletedItem extends TimelineItemBase {
  readonly type: 'SessionCompleted'
  readonly content: CompletedContent | null
}

/** What the run was asked, or a reply to it. */
export interface UserMessageContent extends StepContent {
  readonly text: string
  readonly files?: readonly MessageFile[]
  /** The call that asked, for a reply. */
  readonly reply_to?: string
}

export interface MessageFile {
  readonly filename: string
  readonly media_type?: string
}

/** A completion of the model. */
export interface ReasoningContent extends StepContent {
  readonly text: string
  readonly model: string
  readonly provider: string
  /** The model that answered, where the provider names another one. */
  readonly response_model?: string
  /** error where the model gave no answer. */
  readonly finish_reason: string
  readonly usage: CompletionUsage
  readonly cost?: CompletionCost
  /** Models that failed before the one that answered. */
  readonly fallback_after?: readonly FailedModel[]
  readonly tool_calls: readonly ProposedCall[]
}

/** Tokens of a completion. The totals include the parts: cached and written tokens are input, reasoning is output. A part that the provider did not report is absent. */
export interface CompletionUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_input_tokens?: number
  readonly cache_write_tokens?: number
  readonly reasoning_tokens?: number
  /** The provider reported no possible number for one of the totals, so it is estimated from the texts. */
  readonly estimated?: true
}

/** What the completion cost, in exact decimal text; absent where the price is not known. */
export interface CompletionCost {
  readonly amount: string
  readonly currency: string
  readonly price_version: string
  readonly parts: CostParts
}

export interface CostParts {
  readonly input?: string
  readonly cached_input?: string
  readonly cache_write?: string
  readonly output?: string
  readonly reasoning?: string
}

export interface FailedModel {
  readonly model: string
  readonly error: string
}

export interface ProposedCall {
  readonly id: string
  readonly name: string
  readonly arguments: JsonValue
}

/** What the policies decided about a call. */
export interface PolicyDecisionContent extends StepContent {
  /** Id that the model gave the call. */
  readonly tool_call_id: string
  readonly name: string
  readonly decision: 'allow' | 'deny' | 'require_approval' | 'escalate' | (string & {})
  readonly policies: readonly DecidedPolicy[]
  readonly explanation: string
  /** Why no policy could decide. */
  readonly reason?: string
}

/** A call that was sent to its tool. */
export interface ToolCallContent extends StepContent {
  /** Id that the model gave the call. */
  readonly tool_call_id: string
  readonly name: string
  /** Logical id of the tool. */
  readonly ref: string
  readonly version: string
  readonly arguments: AnyValue
  readonly side_effect_class: string | null
  readonly attempt: number
  /** The same for every attempt. */
  readonly idempotency_key: string
  readonly route: 'mcp' | 'command' | 'http' | 'openapi' | 'builtin' | 'mock' | (string & {})
  /** The call of unknown outcome that an operator looked into, by this call. */
  readonly probe_of?: string
  /** The operator who looked into it. */
  readonly asked_by?: string
}

/** The result of a call, as the model reads it. */
export interface ToolResultContent extends StepContent {
  /** Id that the model gave the call. */
  readonly tool_call_id: string
  readonly name: string
  readonly result: AnyValue
  readonly is_error: boolean
  readonly duration_ms: number
  /** The call of unknown outcome that an operator looked into, by this call. */
  readonly probe_of?: string
  /** The operator who looked into it. */
  readonly asked_by?: string
  /** In a fork, what of it an operator has undone since, as the model is told. */
  readonly undone?: string
}

/** A task that somebody is asked to decide, as it stands now. */
export interface UserTaskReqContent extends StepContent, TaskFields {}

/** The answer to a task, or its end without one. */
export interface UserTaskResContent extends StepContent {
  readonly user_task_id: string
  readonly outcome: 'approved' | 'rejected' | 'answered' | 'timed_out' | 'cancelled' | (string & {})
  readonly approved: boolean | null
  readonly selected_option_id: string | null
  readonly text_value: string | null
  readonly number_value: number | null
  readonly completed_by: string | null
  readonly comment: string | null
  readonly metadata: JsonObject | null
  /** completedByEmail as a client claimed it. */
  readonly claimed_email?: string
  /** How the answer came; absent where nobody gave it. */
  readonly channel?: 'api' | 'operator' | 'console' | 'slack' | 'email' | 'scenario' | (string & {})
  /** What proved that it was this person, weakest first; absent where nobody answered. */
  readonly proof?: 'none' | 'link' | 'key' | 'ssh' | 'passkey' | 'hardware' | (string & {})
  /** Where several people were asked, what each of them said. */
  readonly votes?: readonly TaskVote[]
}

/** One of several votes. */
export interface TaskVote {
  readonly by: string
  readonly approved: boolean
  readonly channel?: string
  readonly proof?: string
}

/** A call that started a sub-agent. */
export interface SubAgentCallContent extends StepContent {
  /** Id that the model gave the call. */
  readonly tool_call_id: string
  readonly name: string
  readonly child_run_id: string
  readonly agent: string
  readonly version: string
  readonly input: AnyValue
}

/** How the run of a sub-agent ended. */
export interface SubAgentResultContent extends StepContent {
  /** Id that the model gave the call. */
  readonly tool_call_id: string
  readonly child_run_id: string
  readonly status: RunStatusWord
  readonly output: AnyValue
  /** Type and content of the steps of the sub-agent, where it is bound with the result full. */
  readonly steps?: AnyValue
  /** In a fork, what of it an operator has undone since, as the model is told. */
  readonly undone?: string
}

/** A question to the model of the parent. */
export interface AitlRequestContent extends StepContent {
  readonly request_id: string
  readonly question: string
  readonly context?: AnyValue
}

/** The answer to a question of a sub-agent. */
export interface AitlResponseContent extends StepContent {
  readonly request_id: string
  readonly answer: string
  readonly answered_by: 'parent' | 'person' | (string & {})
}

/** A limit stopped the run, an operator is asked about it, or older messages are left out of the prompt because of it. */
export interface LimitReachedContent extends StepContent {
  readonly limit: string
  /** A number, or an amount of money as text. */
  readonly value: number | string
  /** What had been used of it, likewise. */
  readonly used: number | string
  readonly action: 'halt' | 'escalate' | 'leave_out' | 'summarise' | (string & {})
  readonly left_out?: LeftOutMessages
  /** What the model is given in place of the messages. */
  readonly summary?: string
  /** That made the summary. */
  readonly model?: string
  readonly provider?: string
  readonly usage?: CompletionUsage
  readonly cost?: CompletionCost
}

/** What later prompts leave out between the first message and the steps after an ordinal. */
export interface LeftOutMessages {
  readonly messages: number
  readonly through_ordinal: number
}

/** Whether an answer is what the agent was to give. */
export interface OutputValidationContent extends StepContent {
  readonly valid: boolean
  readonly errors: readonly ErrorDetail[]
  readonly action: 'accept' | 'retry' | 'repair' | 'escalate' | 'fail' | (string & {})
}

/** An operator resumed the run after it had ended or while it was held. */
export interface RunResumedContent extends StepContent {
  readonly resumed_by: string
  readonly reason: string | null
  /** The status before. */
  readonly status: RunStatusWord
  /** The error before. */
  readonly error: string | null
  /** Version of the agent that it goes on with, where it is another one. */
  readonly version?: string
  readonly from_version?: string
  /** Limits that were granted again, once a grant. */
  readonly granted?: readonly string[]
}

/** An operator asked to undo a call; the first step of the run that undoes it. */
export interface UndoRequestedContent extends StepContent {
  /** The call that is undone. */
  readonly undoes: {
    readonly run_id: string
    readonly tool_call_id: string
    readonly tool: string
    readonly asked_by: string
    readonly reason: string | null
  }
  /** Name of the tool that undoes it. */
  readonly name: string
  readonly ref: string
  readonly arguments: AnyValue
}

/** The result of the run. */
export interface OutputContent extends StepContent {
  readonly output: AnyValue
}

/** How a run or a session ended. */
export interface CompletedContent extends StepContent {
  readonly status: RunStatusWord
  readonly output: AnyValue
  readonly error: string | null
  readonly cancelled_by?: string
}

/** What every event has. */
export interface StreamEventBase {
  readonly ts: Timestamp
  readonly kind: string
  readonly subject: string
}

/** The session of the run. */
export interface SessionEvent extends StreamEventBase {
  readonly kind: 'session'
  readonly subject:
    | 'engine.session.started'
    | 'engine.session.paused'
    | 'engine.session.resumed'
    | 'engine.session.completed'
    | 'engine.session.failed'
    | 'engine.session.cancelled'
  readonly data: SessionEventData
}

/** A run of the session. */
export interface RunEvent extends StreamEventBase {
  readonly kind: 'run'
  readonly subject:
    | 'engine.run.started'
    | 'engine.run.paused'
    | 'engine.run.resumed'
    | 'engine.run.completed'
    | 'engine.run.failed'
    | 'engine.run.cancelled'
  readonly data: RunEventData
}

/** Text of the answer as it arrives, where the trigger does not expose its timeline; live only, without an id. */
export interface RunOutputEvent extends StreamEventBase {
  readonly kind: 'run'
  readonly subject: 'engine.run.output'
  readonly data: TextEventData
}

/** A run has started a sub-agent. */
export interface SubAgentSpawnedEvent extends StreamEventBase {
  readonly kind: 'run'
  readonly subject: 'engine.subagent.spawned'
  readonly data: SubAgentSpawnedData
}

/** The run of a sub-agent has ended. */
export interface SubAgentCompletedEvent extends StreamEventBase {
  readonly kind: 'run'
  readonly subject: 'engine.subagent.completed'
  readonly data: SubAgentCompletedData
}

/** A step of the timeline. */
export interface StepEvent extends StreamEventBase {
  readonly kind: 'step'
  readonly subject: 'engine.step.started' | 'engine.step.completed' | 'engine.step.failed'
  readonly data: StepEventData
}

/** Text of the model as it arrives; live only, without an id. */
export interface StepDeltaEvent extends StreamEventBase {
  readonly kind: 'step'
  readonly subject: 'engine.step.delta'
  readonly data: TextEventData
}

/** What a tool reports of a call under way, at most every 5 seconds; live only, without an id. The text is the tool's. */
export interface StepProgressEvent extends StreamEventBase {
  readonly kind: 'step'
  readonly subject: 'engine.step.progress'
  readonly data: ProgressEventData
}

/** A user task. */
export interface UserTaskEvent extends StreamEventBase {
  readonly kind: 'user_task'
  readonly subject:
    | 'engine.user_task.created'
    | 'engine.user_task.voted'
    | 'engine.user_task.completed'
    | 'engine.user_task.expired'
    | 'engine.user_task.cancelled'
  readonly data: UserTaskEventData
}

/** A sub-agent asks the model of its parent, or its question goes to a person. */
export interface AitlQuestionEvent extends StreamEventBase {
  readonly kind: 'aitl'
  readonly subject: 'engine.aitl.requested' | 'engine.aitl.escalated'
  readonly data: AitlQuestionData
}

/** A sub-agent has its answer. */
export interface AitlAnswerEvent extends StreamEventBase {
  readonly kind: 'aitl'
  readonly subject: 'engine.aitl.answered'
  readonly data: AitlAnswerData
}

export interface EventData {
  readonly sessionId: string
  readonly runId: string
}

export interface SessionEventData extends EventData {
  readonly status: RunStatusWord
  readonly output?: JsonValue
  readonly error?: string | null
  readonly hold?: Hold
}

export interface RunEventData extends EventData {
  readonly status: RunStatusWord
  readonly output?: JsonValue
  readonly error?: string | null
  readonly errorCode?: string | null
  readonly cancelledBy?: string
  readonly pending?: PendingAnswers
  readonly hold?: Hold
}

export interface SubAgentSpawnedData extends EventData {
  readonly childRunId: string
  readonly agentName: string
  readonly depth: number
}

export interface SubAgentCompletedData extends EventData {
  readonly childRunId: string
  readonly agentName: string
  readonly depth: number
  readonly status: RunStatusWord
  readonly output?: JsonValue
  readonly error?: string | null
}

export interface StepEventData extends EventData {
  readonly step: TimelineItem
}

export interface TextEventData extends EventData {
  readonly text: string
}

export interface ProgressEventData extends EventData {
  readonly toolCallId: string
  readonly progress?: number
  readonly total?: number
  /** At most 200 characters. */
  readonly message?: string
}

export interface UserTaskEventData extends EventData {
  readonly task: TaskContent
}

export interface AitlQuestionData extends EventData {
  readonly requestId: string
  readonly question: string
}

export interface AitlAnswerData extends EventData {
  readonly requestId: string
  readonly answer: string
}
