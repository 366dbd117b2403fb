/** Answers to a run: to a user task, or a reply to its question. Source: HTTP API, "POST /v1/runs/{runId}/input". */
import { fail, type Failure } from '../base/failure.ts'
import type { RunId, WorkspaceId } from '../base/ids.ts'
import { canonicalJson } from '../base/json/json.ts'
import type { MessageAccepted } from '../spec/api.ts'
import { answerableWhileHidden, pendingOf } from '../spec/view/pending.ts'
import type { GivenAnswer } from '../spec/task.ts'
import type { Store } from '../store/store.ts'
import { advanceRun } from './machine/advance.ts'
import { shownFiles } from './calls/replies.ts'
import type { SessionDriver } from './drive/drive.ts'
import { closeClaim, type OpenClaim } from './session/repeated-request.ts'
import type { RunHandle, SessionTransaction } from './session/transaction.ts'
import type { EngineParts } from './session/engine.ts'
import type { MessageFile } from './session/event.ts'
import { steerRun } from './steer-run.ts'
import { answerTask } from './machine/tasks.ts'

export async function answerRun(
  parts: EngineParts,
  driver: SessionDriver,
  runId: RunId,
  given: GivenAnswer,
  hidden: boolean,
  claim?: OpenClaim,
): Promise<MessageAccepted> {
  const remember = (tx: SessionTransaction, accepted: MessageAccepted): MessageAccepted => {
    // A run that did not wait may do so when the client asks again.
    if (claim && accepted.code !== 'run_not_waiting' && accepted.code !== 'run_not_working')
      tx.recordClaim(closeClaim(claim, accepted))
    return accepted
  }
  const { store } = parts
  const run = await store.run(runId)
  if (!run) throw fail('not_found', { what: 'run' })
  const cleaned: GivenAnswer = { ...parts.redactor.json({ ...given, by: null }), by: given.by }
  const { taskId } = cleaned
  if (taskId !== undefined) {
    if (hidden && cleaned.by.type === 'api_key') return refuse(run.status, fail('task_not_found'))
    for (;;) {
      const stored = await store.task(taskId)
      const known = stored?.sessionId === run.sessionId ? stored : undefined
      if (!known) return refuse(run.status, fail('task_not_found'))
      const accepted = await driver.post(run.sessionId, (tx) => {
        const answered = answerTask(tx, runId, taskId, cleaned, known)
        return answered && remember(tx, withPending(tx.run(runId), answered, hidden))
      })
      // The task was decided after it was read: read it again.
      if (accepted) return accepted
    }
  }
  const files = await filesOf(store, run.workspaceId, cleaned)
  if (!files)
    return refuse(
      run.status,
      fail('invalid_value', { what: 'A file of the reply is not a finalized file of the workspace.' }),
    )
  const text = cleaned.text ?? ''
  const accepted = await driver.post(run.sessionId, (tx) =>
    remember(
      tx,
      withPending(
        tx.run(run.id),
        given.steer
          ? steerRun(tx.run(run.id), { text, files }, given.steer === 'interrupt')
          : applyReplyTo(tx.run(run.id), text, files),
        hidden,
      ),
    ),
  )
  if (given.steer || accepted.code !== 'run_not_waiting' || !(await isRepeatedReply(parts, run.id, text, files)))
    return accepted
  const { status, pending } = accepted
  return { status, duplicate: true, ...(pending && { pending }) }
}

/** What the run waits for after the answer. */
function withPending({ record, tx }: RunHandle, accepted: MessageAccepted, hidden: boolean): MessageAccepted {
  const pending = pendingOf(record, { runs: tx.runs(), tasks: tx.pendingTasks() })
  return { ...accepted, pending: hidden ? answerableWhileHidden(pending) : pending }
}

/** After this time the same text counts as another reply. Source: decisions, section 17. */
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
    return refuse(status, fail('run_not_waiting', { status }))
  }
  advanceRun(run, { type: 'message', text, files })
  return { status: run.statusNow() }
}

const refuse = (status: string, failure: Failure): MessageAccepted => ({
  status,
  error: failure.message,
  code: failure.code,
})

/** Looks up the files of a reply; undefined when one is missing or not finalized. */
async function filesOf(
  store: Store,
  workspace: WorkspaceId,
  given: GivenAnswer,
): Promise<readonly MessageFile[] | undefined> {
  const files: MessageFile[] = []
  for (const item of given.files ?? []) {
    const file = await store.fileByKey(workspace, item.objectKey)
    if (!file || file.finalizedAt === null) return undefined
    files.push({ filename: file.filename, mediaType: file.mediaType, objectKey: file.objectKey })
  }
  return files
}
