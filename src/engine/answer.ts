/** Answers to a run: to a user task, or a reply to its question. Source: docs/design/approvals.md#refused-answers */
import { fail, isFailure } from '../base/failure.ts'
import type { RunId, TaskId, WorkspaceId } from '../base/ids.ts'
import { canonicalJson } from '../base/json/json.ts'
import { fromJson } from '../base/json/typed-json.ts'
import type { NewAct } from '../spec/people/act.ts'
import type { MessageAccepted } from '../spec/api.ts'
import { answerableWhileHidden, pendingOf } from '../view/pending.ts'
import type { Run } from '../spec/run/run.ts'
import type { GivenAnswer } from '../spec/task.ts'
import type { Store } from '../store/store.ts'
import { advanceRun } from './machine/advance.ts'
import { shownFiles } from './calls/replies.ts'
import type { SessionDriver } from './drive/drive.ts'
import { closeClaim, findRepeated, type OpenClaim } from './interface/repeated-request.ts'
import type { RunHandle, SessionTransaction } from './transaction/transaction.ts'
import type { EngineParts } from './interface/engine.ts'
import type { MessageFile } from './session/event.ts'
import { steerRun, toRefusal } from './steer-run.ts'
import { answerTask } from './machine/tasks.ts'

interface AnswerOptions {
  /** The caller may not see the timeline, and so neither its tasks. */
  readonly hidden: boolean
  /** Recorded with an answer that is accepted. */
  readonly act: NewAct | undefined
}

/**
 * Answers a run, unless a request with the same key has answered it. Another process may get the repetition of a request that this
 * one is answering, so the answer applies to the session only as it was when the key was looked up.
 */
export async function answerUnlessRepeated(
  parts: EngineParts,
  driver: SessionDriver,
  runId: RunId,
  given: GivenAnswer,
  options: AnswerOptions,
  claim: OpenClaim,
): Promise<MessageAccepted> {
  const run = await parts.store.run(runId)
  if (!run) throw fail('not_found', { what: 'run' })
  for (;;) {
    const session = await parts.store.session(run.sessionId)
    const repeated = await findRepeated(parts, claim)
    if (repeated) return fromJson<MessageAccepted>(repeated, 'status')
    try {
      return await answerRun(parts, driver, runId, given, options, { claim, seen: session?.version })
    } catch (error) {
      if (!isFailure(error, 'run_moved_on')) throw error
    }
  }
}

/**
 * Answers a user task of the run or of a descendant where `given` names one, else its question; or steers it while it works.
 * @param keyed the claim with which the answer is stored, unless the session has another version than `seen`
 * @throws Failure `not_found`, `run_moved_on`
 */
export async function answerRun(
  parts: EngineParts,
  driver: SessionDriver,
  runId: RunId,
  given: GivenAnswer,
  { hidden, act }: AnswerOptions,
  keyed?: { readonly claim: OpenClaim; readonly seen: number | undefined },
): Promise<MessageAccepted> {
  const run = await parts.store.run(runId)
  if (!run) throw fail('not_found', { what: 'run' })
  const cleaned: GivenAnswer = { ...parts.redactor.json({ ...given, by: null }), by: given.by }
  const finish: FinishAnswer = (tx, accepted) => {
    const { id: sessionId, version } = tx.session
    if (keyed && keyed.seen !== version) throw fail('run_moved_on', { sessionId, seen: keyed.seen ?? 0 })
    if (accepted.code === undefined && accepted.duplicate !== true) tx.recordAct(act)
    const answered = withPending(tx.run(runId), accepted, hidden)
    // A run that did not wait may do so when the client asks again.
    if (keyed && accepted.code !== 'run_not_waiting' && accepted.code !== 'run_not_working')
      tx.recordClaim(closeClaim(keyed.claim, answered))
    return answered
  }
  if (cleaned.taskId === undefined) return await replyToRun(parts, driver, run, cleaned, finish)
  if (hidden && cleaned.by.type === 'api_key') return toRefusal(run.status, fail('task_not_found'))
  return await answerTaskOf(parts, driver, run, cleaned.taskId, cleaned, finish)
}

/** Adds what the run waits for, and stores the answer with its claim. */
type FinishAnswer = (tx: SessionTransaction, accepted: MessageAccepted) => MessageAccepted

async function answerTaskOf(
  { store }: EngineParts,
  driver: SessionDriver,
  run: Run,
  taskId: TaskId,
  given: GivenAnswer,
  finish: FinishAnswer,
): Promise<MessageAccepted> {
  for (;;) {
    const known = await store.task(taskId)
    if (known?.sessionId !== run.sessionId) return toRefusal(run.status, fail('task_not_found'))
    const accepted = await driver.post(
      run.sessionId,
      (tx) => {
        const answered = answerTask(tx, run.id, taskId, given, known)
        return answered && finish(tx, answered)
      },
      { about: [run.id, known.runId] },
    )
    // The task was decided after it was read: read it again.
    if (accepted) return accepted
  }
}

async function replyToRun(
  parts: EngineParts,
  driver: SessionDriver,
  { id, sessionId, workspaceId, status }: Run,
  { text = '', files: given, steer }: GivenAnswer,
  finish: FinishAnswer,
): Promise<MessageAccepted> {
  const files = await filesOf(parts.store, workspaceId, given ?? [])
  if (!files)
    return toRefusal(
      status,
      fail('invalid_value', { what: 'A file of the reply is not a finalized file of the workspace.' }),
    )
  const accepted = await driver.post(
    sessionId,
    (tx) => {
      const run = tx.run(id)
      return finish(tx, steer ? steerRun(run, { text, files }, steer === 'interrupt') : applyReplyTo(run, text, files))
    },
    { about: [id] },
  )
  if (steer || accepted.code !== 'run_not_waiting' || !(await isRepeatedReply(parts, id, text, files))) return accepted
  const { pending } = accepted
  return { status: accepted.status, duplicate: true, ...(pending && { pending }) }
}

/** Adds the tasks and questions that the run waits for after the answer. */
function withPending({ record, tx }: RunHandle, accepted: MessageAccepted, hidden: boolean): MessageAccepted {
  const pending = pendingOf(record, { runs: tx.runs(), tasks: tx.pendingTasks() })
  return { ...accepted, pending: hidden ? answerableWhileHidden(pending) : pending }
}

/** After this time the same text counts as another reply. Source: docs/design/steering.md#a-conversation-goes-on */
const REPEATED_REPLY_MS = 60_000

/** True if the last accepted reply was the same and recent: the client sent it twice. */
async function isRepeatedReply(
  { store, clock }: EngineParts,
  runId: RunId,
  text: string,
  files: readonly MessageFile[],
): Promise<boolean> {
  const steps = await store.stepsOfRun(runId)
  const last = steps.findLast(({ type, content }) => type === 'UserMessage' && content['reply_to'] !== undefined)
  if (!last || clock.now() - last.startedAt > REPEATED_REPLY_MS) return false
  return (
    last.content['text'] === text && canonicalJson(last.content['files'] ?? []) === canonicalJson(shownFiles(files))
  )
}

function applyReplyTo(run: RunHandle, text: string, files: readonly MessageFile[]): MessageAccepted {
  const { state } = run
  const isListening = state.at === 'calling' && state.calls.some((call) => call.state.at === 'listening')
  if (!isListening) {
    const status = run.statusNow()
    return toRefusal(status, fail('run_not_waiting', { status }))
  }
  advanceRun(run, { type: 'message', text, files })
  return { status: run.statusNow() }
}

/** Looks up the files of a reply; undefined when one is missing or not finalized. */
async function filesOf(
  store: Store,
  workspace: WorkspaceId,
  given: NonNullable<GivenAnswer['files']>,
): Promise<readonly MessageFile[] | undefined> {
  const files: MessageFile[] = []
  for (const item of given) {
    const file = await store.fileByKey(workspace, item.objectKey)
    if (!file || file.finalizedAt === null) return undefined
    files.push({ filename: file.filename, mediaType: file.mediaType, objectKey: file.objectKey })
  }
  return files
}
