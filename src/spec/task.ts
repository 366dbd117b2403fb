import type { DecisionId, RunId, SessionId, TaskId, WorkspaceId } from '../base/ids.ts'
import type { Instant } from '../base/clock.ts'
import { foldIdentity } from '../base/identity.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type { Digest } from '../base/digest.ts'
import { isProofAtLeast, PROOF_NAMES, type DecisionOrigin, type DecisionProof } from './people/decision-proof.ts'
import { isProvedPerson, type Principal } from './people/key.ts'
import type { TaskQuestion } from './server-question.ts'
import type { DecidedPolicy } from './step.ts'

/** Kinds that a key may complete, and those only an operator may. Source: docs/design/approvals.md#the-task */
export const API_TASK_KINDS = ['approval', 'multi_option', 'text', 'number'] as const
export const OPERATOR_TASK_KINDS = ['escalation', 'aitl_escalation', 'anomaly_review'] as const
export type TaskKind = (typeof API_TASK_KINDS)[number] | (typeof OPERATOR_TASK_KINDS)[number]

export const isOperatorOnly = (kind: TaskKind): boolean => (OPERATOR_TASK_KINDS as readonly string[]).includes(kind)

export interface TaskVote {
  /** Stable identity of the approver: `key:<id>`, `operator:<identity>`, or `claimed:<name>` where nothing proves the name. */
  readonly approver: string
  readonly approved: boolean
  readonly at: Instant
  readonly comment?: string
}

/** Arguments that an approver gave instead of the proposed ones. */
export interface EditedArguments {
  /** As of a vote. */
  readonly approver: string
  readonly at: Instant
  readonly argumentsDigest: string
  /** Decision of the policies about these arguments; absent where they are not evaluated again. */
  readonly decision?: DecidedPolicy['decision']
}

export type TaskStatus = 'pending' | 'completed' | 'expired' | 'cancelled'

/** The answer of a completed task. */
export interface TaskAnswer {
  readonly outcome: 'approved' | 'rejected' | 'answered' | 'timed_out' | 'cancelled'
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  /** Arguments as edited by the approver. */
  readonly arguments?: JsonObject
  readonly completedBy?: string
  /** `completedByEmail` as a client claimed it; never an identity. */
  readonly claimedEmail?: string
  readonly comment?: string
  readonly metadata?: JsonObject
  /** How the deciding answer came; absent where nobody gave it, and in records of earlier versions. */
  readonly origin?: DecisionOrigin
}

/** A result that the run had before, about an argument of the held call; or the verdict of a sub-agent. */
export interface TaskEvidence {
  /** Tool or agent, `namespace.name`. */
  readonly ref: string
  /** Arguments of the held call that its request or its result has; may be empty for a sub-agent. */
  readonly about: readonly string[]
  /** JSON in one line, cut. */
  readonly result: string
  readonly failed?: true
}

/**
 * The question of a task, its call and what stopped that call: the same record in the store, the engine, the inbox and the
 * card. `kind` and the words about answers are open, since a newer server may send others.
 */
export interface TaskRequest {
  readonly kind: string
  readonly status: string
  readonly title: string
  readonly prompt?: string
  readonly reason?: string
  readonly tool?: {
    readonly name: string
    readonly ref: string
    readonly version: string
    readonly side_effect_class: string | null
  }
  /** What the call does, as its tool declares (`svc/summary`); escaped, in one line. */
  readonly summary?: string
  /** The last words of the model before its call, in one line, cut. */
  readonly reasoning?: string
  /** Oldest first. */
  readonly evidence?: readonly TaskEvidence[]
  readonly arguments?: JsonValue
  readonly argumentsDigest?: string
  readonly policies?: readonly DecidedPolicy[]
  readonly authorityRef?: string
  /** The effect key of the call, and the earlier call with it. */
  readonly effect?: { readonly key: string; readonly previous?: JsonObject }
  /** Sources of the arguments that a policy read, by path. */
  readonly sources?: Readonly<Record<string, readonly string[]>>
  readonly approvalsRequired?: number
  /** The least proof of an approval that counts; absent = none. */
  readonly approvalProof?: DecisionProof
  /** In order; the last edit is in `arguments`. Absent without edits. */
  readonly edits?: readonly EditedArguments[]
  readonly comprehensionRequired?: boolean
  /** The policies let it be approved together with others although it cannot be undone (`svc/bulk`). */
  readonly bulk?: boolean
  readonly context?: JsonObject
  /** Set where the server of a tool asks: it wrote the prompt. */
  readonly question?: TaskQuestion
  readonly options?: readonly { readonly id: string; readonly label: string }[]
  readonly min?: number
  readonly max?: number
  readonly onReject?: string
  readonly onModify?: string
  /** What happens if nobody answers until `expiresAt`. */
  readonly onTimeout?: string
  readonly expiresAt?: Instant
}

export interface TaskRecord extends TaskRequest {
  readonly id: TaskId
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly kind: TaskKind
  readonly status: TaskStatus
  /** The call that waits for this task; absent for limit and output escalations. */
  readonly callId?: string
  /** The subject of an `escalation`. */
  readonly about?: 'policy' | 'limit' | 'output' | 'timeout' | 'dispatch'
  readonly argumentsDigest?: Digest
  /** Digest of the action that would run; recomputed before it does. Source: docs/design/approvals.md#what-is-approved */
  readonly actionDigest?: Digest
  readonly decisionId?: DecisionId
  readonly votes: readonly TaskVote[]
  /** How the votes came, by approver. */
  readonly voteOrigins?: Readonly<Record<string, DecisionOrigin>>
  /** The roles that voters had when they voted, by approver; absent where none is asked for. */
  readonly voteRoles?: Readonly<Record<string, readonly string[]>>
  readonly approverRole?: string
  readonly separationOfDuties?: true
  /** The process that sent a call of unknown outcome, as host and process id: for operators alone. */
  readonly worker?: string
  readonly onReject?: 'return_to_agent' | 'fail'
  readonly onModify?: 'revalidate' | 'accept' | 'reject'
  readonly onTimeout?: 'deny' | 'allow' | 'escalate'
  readonly createdAt: Instant
  readonly completedAt?: Instant
  readonly answer?: TaskAnswer
}

/** A person announced that they are looking at a task. Others may still decide it. */
export interface TaskClaim {
  readonly workspaceId: WorkspaceId
  readonly taskId: TaskId
  /** Stable identity: `operator:<identity>`. */
  readonly operator: string
  readonly at: Instant
  readonly until: Instant
}

/** True for a call that cannot be undone, or whose class is undeclared. */
export const isIrreversibleCall = ({ tool }: Pick<TaskRequest, 'tool'>): boolean =>
  tool !== undefined && (tool.side_effect_class ?? 'irreversible_action') === 'irreversible_action'

/** True for a call that may do what an earlier one did: its effect key was held, or the same call was made before. */
export const repeatsEarlierCall = (task: TaskRequest): boolean => findRepetition(task) !== undefined

/** True where one press does not approve: a second, different act follows. */
export const needsSecondAct = (task: TaskRequest): boolean => isIrreversibleCall(task) || repeatsEarlierCall(task)

/** Metadata of an answer that was given in a bulk review. */
export const IN_BULK = 'svc/bulk'

/** Why a task is approved on its own card only; undefined where it may be approved together with others. */
export function findBulkProblem(task: TaskRequest): string | undefined {
  if (task.kind !== 'approval' && task.kind !== 'escalation') return 'it asks for an answer, not for an approval'
  if (task.tool === undefined) return 'it is not about a call'
  if (task.comprehensionRequired === true) return 'its policy asks for a confirmation that its arguments were read'
  const repeated = findRepetition(task)
  if (repeated !== undefined) return repeated
  const proof = task.approvalProof ?? 'none'
  // A proof beyond a key is given for what one card showed.
  if (!isProofAtLeast('key', proof)) return `its policy asks for ${PROOF_NAMES[proof] ?? proof}, each time`
  if (isIrreversibleCall(task) && task.bulk !== true)
    return 'its call cannot be undone, and no policy says svc/bulk: true'
  return undefined
}

/** Why the call of a task may happen for the second time. */
function findRepetition({ effect, context }: TaskRequest): string | undefined {
  if (effect?.previous !== undefined) return 'its call repeats an earlier one'
  return context?.['earlier_call'] === undefined ? undefined : 'its call may have been made before'
}

/**
 * Why an approval names what was seen of the call, by its digest, where no card showed it; undefined where the id of the task is
 * enough.
 */
export function findReviewReason(task: TaskRequest): string | undefined {
  if (task.argumentsDigest === undefined) return undefined
  const repeated = findRepetition(task)
  if (repeated !== undefined) return repeated
  if (isIrreversibleCall(task)) return 'its call cannot be undone'
  if ((task.approvalsRequired ?? 1) > 1) return 'several people approve it'
  if ((task.edits?.length ?? 0) > 0) return 'its arguments were edited'
  return task.comprehensionRequired === true
    ? 'its policy asks for a confirmation that its arguments were read'
    : undefined
}

/** Distinct approvals that count: those with the proof that the task asks for. */
export const countApprovals = ({ votes, voteOrigins, approvalProof = 'none' }: TaskRecord): number =>
  new Set(
    votes
      .filter(({ approved, approver }) => {
        const { proof = 'none' } = voteOrigins?.[approver] ?? {}
        return approved && isProofAtLeast(proof, approvalProof)
      })
      .map(({ approver }) => foldIdentity(approver)),
  ).size

/**
 * Why the vote of a principal cannot count, since it could be a second vote of one person; undefined where it can. A quorum counts
 * people with a credential: who holds a key, or reaches the local channel, may be one of them. Where duties are separated, another
 * key than the one that started the run is another program, and an operator has to prove not to be the starter.
 */
export function findUnprovedVote(
  by: Principal,
  { approvalsRequired = 1, separationOfDuties }: Pick<TaskRecord, 'approvalsRequired' | 'separationOfDuties'>,
): string | undefined {
  if (isProvedPerson(by)) return undefined
  if (approvalsRequired > 1) return `a quorum counts people, each with a credential of their own${HOW_TO_PROVE}`
  const isProgram = by.type === 'api_key' && by.person === null
  return separationOfDuties === true && !isProgram
    ? `who did not start the run proves it with a credential${HOW_TO_PROVE}`
    : undefined
}

const HOW_TO_PROVE = ' (svc keys create --operator --email YOU)'

/** A task as people see and answer it, whichever interface it came through. */
export interface ShownTask extends TaskRequest {
  /** Of the task; of the run where `kind` is `reply`, which has no task. */
  readonly id: string
  readonly runId: string
  /** `namespace.name`, with its version where that is known. */
  readonly agent: string
  readonly approvalsReceived: number
  /** An API key may answer it. */
  readonly apiCompletable: boolean
  /** Absent for API keys, which get no names of people. */
  readonly people?: TaskPeople
}

/** Who asked, who voted and who may still answer a task, as names of people and keys: `operator ana`, `key "web-shop"`. */
export interface TaskPeople {
  readonly startedBy: string
  readonly versionLabel: string
  /** Role that an approver needs; absent where anybody may answer. */
  readonly role?: string
  /** Identity of the reader. */
  readonly you: string
  /** Whether the reader may answer, and why not. */
  readonly standing: TaskStanding
  readonly votes: readonly { readonly by: string; readonly approved: boolean; readonly how?: string }[]
  /** People with a credential who may answer and have not, without the reader; at most `MAX_CANDIDATES`. */
  readonly candidates: readonly string[]
  /** Who is looking at the task, with `isYou` for the reader; absent if nobody is. */
  readonly looking?: readonly { readonly by: string; readonly isYou: boolean }[]
  /** Which channels were told of it, in order; absent where none is. */
  readonly told?: readonly ToldChannel[]
  /** Who edited the arguments that are shown; absent without edits. */
  readonly editedBy?: string
  /** Absent while the task waits. */
  readonly decided?: TaskDecided
}

export interface TaskDecided {
  readonly by: string
  readonly outcome: string
  /** RFC 3339. */
  readonly at: string
  readonly comment?: string
  /** Through which channel, and with which proof: `in the console, with a passkey`. */
  readonly how?: string
}

/** What a channel was told of a task, and how far that came. */
export interface ToldChannel {
  readonly channel: string
  /** Addresses that were told so far; absent where the channel does not say. */
  readonly to?: readonly string[]
  readonly event: string
  readonly state: string
  /** RFC 3339: when it was delivered or given up, else when it is due. */
  readonly at: string
  /** Why the last try failed; absent where it was delivered. */
  readonly error?: string
}

/** Maximum people who are named as able to answer. */
export const MAX_CANDIDATES = 10

/**
 * `starter`: who started the run does not decide what it may do; `no_role`: the role that approvers need is missing; `no_proof`: the
 * task counts people with a credential, and the reader has shown none.
 */
export type TaskStanding = 'may_answer' | 'voted' | 'starter' | 'no_role' | 'no_proof'

/** The answer to a task or a conversational pause, as passed to the engine. */
export interface GivenAnswer {
  readonly taskId?: TaskId
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  readonly metadata?: JsonObject
  /** `text`, else `message`. */
  readonly text?: string
  readonly files?: readonly { readonly objectKey: string; readonly filename?: string; readonly mediaType?: string }[]
  readonly claimedEmail?: string
  /** What the channel knows of how the answer came; absent = nothing, and so no proof. */
  readonly origin?: DecisionOrigin
  /** The text is for a working run: for its next completion, or in place of the present one. */
  readonly steer?: true | 'interrupt'
  readonly by: Principal
}
