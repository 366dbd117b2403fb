/**
 * Tasks in the words of the HTTP interface (snake_case), and back. Nothing else translates between the two.
 * Source: docs/design/approvals.md#the-task
 */
import { toIsoText } from '../../base/clock.ts'
import type { TaskContent } from '../../spec/api.ts'
import type { InboxItem } from '../../operations/tasks.ts'
import type { DecidedPolicy } from '../../spec/step.ts'
import type { DecisionProof } from '../../spec/people/decision-proof.ts'
import { countApprovals, isOperatorOnly, type ShownTask, type TaskRecord, type TaskRequest } from '../../spec/task.ts'

/** A task as `UserTaskReq.content` and `task` of user_task events. Fields that do not apply are absent. */
export function toTaskContent(task: TaskRecord): TaskContent {
  return withoutAbsent({
    user_task_id: task.id,
    kind: task.kind,
    title: task.title,
    prompt: task.prompt,
    reason: task.reason,
    status: task.status,
    tool: task.tool,
    summary: task.summary,
    reasoning: task.reasoning,
    evidence: task.evidence?.map(({ about, ...each }) => ({ ...each, about: [...about] })),
    arguments: task.arguments,
    arguments_digest: task.argumentsDigest,
    policies: task.policies,
    authority_ref: task.authorityRef,
    effect: task.effect,
    sources: task.sources && mapNames(task.sources),
    approvals_required: task.approvalsRequired,
    approval_proof: task.approvalProof,
    approvals_received: task.approvalsRequired === undefined ? undefined : countApprovals(task),
    edits: task.edits?.map(({ approver, at, argumentsDigest, decision }) => ({
      edited_by: approver,
      edited_at: toIsoText(at),
      arguments_digest: argumentsDigest,
      ...(decision !== undefined && { decision }),
    })),
    comprehension_required: task.comprehensionRequired,
    bulk: task.bulk,
    context: task.context,
    question: task.question,
    options: task.options?.map(({ id, label }) => ({ id, label })),
    min: task.min,
    max: task.max,
    on_reject: task.onReject,
    on_modify: task.onModify,
    expires_at: task.expiresAt === undefined ? undefined : toIsoText(task.expiresAt),
    on_timeout: task.onTimeout,
    completable_via: isOperatorOnly(task.kind) || task.approverRole !== undefined ? ['operator'] : ['api', 'operator'],
  })
}

/** Lists that JSON may hold. */
const mapNames = (sources: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(Object.entries(sources).map(([path, names]) => [path, [...names]]))

/** The reverse, as far as the interface says it. */
export function readTaskContent(content: TaskContent): TaskRequest {
  return withoutAbsent({
    kind: content.kind,
    status: content.status,
    title: content.title,
    prompt: content.prompt,
    reason: content.reason,
    tool: content.tool,
    summary: content.summary,
    reasoning: content.reasoning,
    evidence: content.evidence?.map(({ ref, about, result, failed }) =>
      withoutAbsent({ ref, about, result, failed: failed === true ? (true as const) : undefined }),
    ),
    arguments: content.arguments,
    argumentsDigest: content.arguments_digest,
    policies: content.policies?.map(readPolicy),
    authorityRef: content.authority_ref,
    effect: content.effect,
    sources: content.sources,
    approvalsRequired: content.approvals_required,
    approvalProof: content.approval_proof as DecisionProof | undefined,
    edits: content.edits?.map(({ edited_by, edited_at, arguments_digest, decision }) =>
      withoutAbsent({ approver: edited_by, at: Date.parse(edited_at), argumentsDigest: arguments_digest, decision }),
    ),
    comprehensionRequired: content.comprehension_required,
    bulk: content.bulk,
    context: content.context,
    question: content.question,
    options: content.options,
    min: content.min,
    max: content.max,
    onReject: content.on_reject,
    onModify: content.on_modify,
    onTimeout: content.on_timeout,
    expiresAt: content.expires_at === undefined ? undefined : Date.parse(content.expires_at),
  })
}

/** A task of the inbox; a run that waits for a reply is shown as one. */
export const readInboxItem = (item: InboxItem): ShownTask => ({
  ...(item.task ? readTaskContent(item.task) : { title: item.why, prompt: item.why, status: item.status }),
  id: item.userTaskId,
  kind: item.kind,
  runId: item.runId,
  agent: item.people ? `${item.agent}@${item.people.versionLabel}` : item.agent,
  approvalsReceived: item.approvals.have,
  apiCompletable: item.apiCompletable,
  ...(item.people && { people: item.people }),
})

/** A task as the client library reads it from a conversation. */
export interface ClientTask {
  readonly userTaskId: string
  readonly runId: string
  readonly apiCompletable: boolean
  readonly content: TaskContent
}

/** @param agent of the run that is followed; the conversation names none per task */
export const readClientTask = (
  { userTaskId, runId, apiCompletable, content }: ClientTask,
  agent: string,
): ShownTask => ({
  ...readTaskContent(content),
  id: userTaskId,
  runId,
  agent,
  approvalsReceived: content.approvals_received ?? 0,
  apiCompletable,
})

/** Reads missing fields as empty texts, so that a card can show the rest. */
function readPolicy(policy: Partial<DecidedPolicy>): DecidedPolicy {
  const textOf = (name: keyof DecidedPolicy): string => (typeof policy[name] === 'string' ? policy[name] : '')
  const { matched, reason, authority_ref } = policy
  return {
    id: textOf('id'),
    version: textOf('version'),
    decision: textOf('decision'),
    matched: typeof matched === 'boolean' ? matched : null,
    reason: typeof reason === 'string' ? reason : null,
    authority_ref: typeof authority_ref === 'string' ? authority_ref : null,
    ...(textOf('source') && { source: textOf('source') }),
    ...(textOf('condition') && { condition: textOf('condition') }),
  }
}

type WithoutAbsent<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

const withoutAbsent = <T extends object>(fields: T): WithoutAbsent<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as WithoutAbsent<T>
