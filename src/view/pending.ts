/** What a run waits for, as shown to the people who may answer. Source: docs/design/http.md#waiting-and-pending */
import { isoOrNull } from '../base/clock.ts'
import { digestOf } from '../base/digest.ts'
import type { RunId, TaskId } from '../base/ids.ts'
import { canonicalJson, type JsonObject, type JsonValue } from '../base/json/json.ts'
import type { PendingAnswer } from '../spec/api.ts'
import { taskOfState, type Run } from '../spec/run/run.ts'
import { isAnsweredWithFields, wordsOfTask } from '../spec/server-question.ts'
import { countApprovals, type TaskRecord } from '../spec/task.ts'
import { REFERENCE_BYTES, toReference } from '../spec/value-reference.ts'

/** Beyond this size of all arguments together the large ones come as references. */
const MAX_ARGUMENTS_BYTES = 4 * 1024 * 1024

export interface PendingSource {
  /** Runs of the session; a single root run is enough if it has no other. */
  readonly runs: readonly Run[]
  /** The pending tasks of the session. */
  readonly tasks: readonly TaskRecord[]
}

/**
 * What a run and its descendants wait for, oldest task first, then the question that waits for a reply.
 * @param brief large arguments come as references, however small the rest is
 */
export function pendingOf(run: Run, { runs, tasks }: PendingSource, brief = false): readonly PendingAnswer[] {
  if (run.state.at === 'done') return []
  // The first root run waits only while no other has followed, so everything there is its own.
  const isFirst = run.parentRunId === null && run.starter === undefined
  const below = isFirst ? runs : descendantsOf(run, runs)
  const ids = new Set<RunId>(below.map(({ id }) => id))
  const awaited = new Set(below.flatMap(awaitedTasks))
  // A question that was escalated belongs to the root, and its asker waits for it.
  const waiting = isFirst ? tasks : tasks.filter((task) => ids.has(task.runId) || awaited.has(task.id))
  const measured = waiting.map((task) => ({
    task,
    bytes: task.tool ? Buffer.byteLength(JSON.stringify(task.arguments ?? null)) : 0,
  }))
  const isLarge = brief || measured.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_ARGUMENTS_BYTES
  return [
    ...measured.map(({ task, bytes }) => toPending(task, isLarge && bytes > REFERENCE_BYTES)),
    ...below.flatMap(toPendingReply),
  ]
}

/** The part that the caller may answer while the trigger hides its timeline. */
export const answerableWhileHidden = (pending: readonly PendingAnswer[]): readonly PendingAnswer[] =>
  pending.filter(({ kind }) => kind === 'reply')

function descendantsOf(run: Run, runs: readonly Run[]): readonly Run[] {
  const parents = new Map(runs.map((each) => [each.id, each.parentRunId]))
  return runs.filter(({ id }) => {
    for (let at: RunId | null = id; at !== null; at = parents.get(at) ?? null) if (at === run.id) return true
    return false
  })
}

const awaitedTasks = ({ state }: Run): readonly TaskId[] =>
  state.at === 'calling' ? state.calls.flatMap((call) => taskOfState(call.state) ?? []) : []

function toPending(task: TaskRecord, asReference: boolean): PendingAnswer {
  const { kind, options, tool, argumentsDigest, approvalsRequired } = task
  const schema = schemaOf(task)
  const given = task.arguments ?? null
  return {
    kind,
    runId: task.runId,
    userTaskId: task.id,
    prompt: wordsOfTask(task),
    ...(schema && { schema }),
    ...(options && { options: options.map(({ id, label }) => ({ id, label })) }),
    ...(tool &&
      argumentsDigest !== undefined && {
        call: {
          name: tool.name,
          arguments: asReference ? argumentsReference(task.runId, given) : given,
          digest: argumentsDigest,
        },
      }),
    expiresAt: isoOrNull(task.expiresAt),
    onTimeout: task.onTimeout ?? null,
    ...(approvalsRequired !== undefined && { votes: { have: countApprovals(task), need: approvalsRequired } }),
  }
}

/** Named by their canonical text, so that the digest is the one that the task shows. */
function argumentsReference(runId: RunId, given: JsonValue): JsonObject {
  const text = canonicalJson(given)
  return { ...toReference(runId, digestOf(text), Buffer.byteLength(text)) }
}

/** Shape of the value that the answer needs, where it is one value. */
function schemaOf({ kind, min, max, question }: TaskRecord): JsonObject | undefined {
  if (question && isAnsweredWithFields(question)) return question.schema
  if (kind === 'text' || kind === 'aitl_escalation') return { type: 'string' }
  if (kind !== 'number') return undefined
  return { type: 'number', ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) }
}

/** The question of a run that waits for a reply. */
function toPendingReply({ id, state }: Run): readonly PendingAnswer[] {
  const asking = state.at === 'calling' ? state.calls.find((call) => call.state.at === 'listening') : undefined
  if (!asking) return []
  const { message } = asking.arguments as { readonly message?: unknown }
  return [
    { kind: 'reply', runId: id, prompt: typeof message === 'string' ? message : '', expiresAt: null, onTimeout: null },
  ]
}
