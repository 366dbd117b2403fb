/**
 * AG-UI over deployed agents: a thread is a session, a run is a run, and what waits for a person is an interrupt.
 * Source: docs/design/http.md#ag-ui
 */
import { digestOf } from '../../../base/digest.ts'
import { fail, isFailure } from '../../../base/failure.ts'
import type { MessageAccepted, PendingAnswer } from '../../../spec/api.ts'
import type { Run } from '../../../spec/run/run.ts'
import { seesTimeline, type AuthenticatedCaller, type IdentifyCaller } from '../../auth/auth.ts'
import { identifyBearer } from '../../auth/bearer.ts'
import { agentInScope } from '../../auth/scope.ts'
import { apiBodyLimits, readJson } from '../../http/body.ts'
import { detailOf } from '../../http/detail.ts'
import { innerCall } from '../../http/inner-call.ts'
import type { HttpReply } from '../../http/reply.ts'
import { type ApiRoute, type HttpRequestContext, readPathParam } from '../../http/route.ts'
import { sendMessage } from '../../routes/messages.ts'
import { cancelRun } from '../../routes/runs.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { toChatInput } from '../chat-input.ts'
import {
  doorSessionId,
  followDoorRun,
  holdDoor,
  readDeployed,
  readDoorState,
  startDoorRun,
  type DoorRun,
  type DoorState,
} from '../door-run.ts'
import { dataFrame, doorStream } from '../door-stream.ts'
import { createAgUiTranslator, type AgUiEvent } from './ag-ui-events.ts'
import { parseAgUiInput, requireMessage, type AgUiAnswer, type AgUiInput } from './ag-ui-input.ts'
import { matchAnswers, toInterrupts, toMessage } from './interrupts.ts'

/** The revision of the protocol whose events are sent. */
const PROTOCOL = '1.0'

export function agUiRoutes(services: ServerServices, identify: IdentifyCaller): readonly ApiRoute[] {
  return [{ method: 'POST', path: '/ag-ui/:agent', handle: (call) => serveThread(services, identify, call) }]
}

async function serveThread(
  services: ServerServices,
  identify: IdentifyCaller,
  call: HttpRequestContext,
): Promise<HttpReply> {
  const caller = await identifyBearer(services, identify, call)
  const agentId = await agentInScope(services, caller.principal, readPathParam(call, 'agent'))
  const snapshot = await readDeployed(services, agentId)
  const input = parseAgUiInput(await readJson(call, apiBodyLimits(services.config)))
  const sessionId = doorSessionId('ag-ui', caller, agentId, input.threadId)
  const lease = holdDoor(services, call, caller)
  try {
    const start = (): Promise<DoorRun> =>
      startDoorRun(services, call, caller, {
        agentId,
        toInput: () => toChatInput(snapshot, requireMessage(input)),
        sessionId,
        // A front end that sends its run again gets the same one.
        idempotencyKey: digestOf(`${input.threadId}\0${input.runId}`),
        metadata: { 'ag-ui.thread': input.threadId },
      })
    const told: ToldThread =
      input.resume.length > 0
        ? await resumeThread(services, call, caller, { input, sessionId })
        : { started: await start() }
    const isText = snapshot.output.format !== 'json'
    return doorStream(threadFrames(services, caller, input, { ...told, isText }, lease.signal), lease.end)
  } catch (error) {
    lease.end()
    throw error
  }
}

interface ToldThread {
  readonly started: DoorRun
  /** The first answer that was not taken. */
  readonly refused?: MessageAccepted
}

/** @throws Failure `validation_failed` where the answers do not fit what waits */
async function resumeThread(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
  { input, sessionId }: { readonly input: AgUiInput; readonly sessionId: DoorRun['run']['sessionId'] },
): Promise<ToldThread> {
  const session = await services.store.session(sessionId)
  if (!session) throw fail('not_found', { what: 'thread that waits' })
  const { run, state } = await readDoorState(services, caller, session.rootRunId)
  const pending = state.at === 'waiting' ? state.pending : []
  const told: DoorRun = { run, after: session.lastSeq, isNew: true }
  for (const answered of matchAnswers(pending, input.resume)) {
    const refused = await giveAnswer(services, call, caller, run, answered)
    if (refused) return { started: told, refused }
  }
  const now = await services.store.run(run.id)
  return { started: { ...told, run: now ?? run } }
}

/** @returns what the run said where it did not take the answer */
async function giveAnswer(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
  root: Run,
  answered: { readonly pending: PendingAnswer; readonly answer: AgUiAnswer },
): Promise<MessageAccepted | undefined> {
  const identify: IdentifyCaller = async () => caller
  const message = toMessage(answered)
  if (!message) {
    const body = JSON.stringify({ reason: 'The front end abandoned what the run waits for.' })
    await cancelRun(services, identify)(innerCall(call, { runId: root.id }, { body }))
    return undefined
  }
  const answer = innerCall(call, { runId: message.runId }, { body: JSON.stringify(message) })
  const accepted = (await sendMessage(services, identify)(answer)).json as MessageAccepted
  return accepted.error === undefined ? undefined : accepted
}

async function* threadFrames(
  services: ServerServices,
  caller: AuthenticatedCaller,
  { threadId, runId }: AgUiInput,
  { started, refused, isText }: ToldThread & { readonly isText: boolean },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const names = { threadId, runId }
  yield dataFrame({
    type: 'RUN_STARTED',
    ...names,
    protocolVersion: PROTOCOL,
    metadata: { 'svc.run': started.run.id, 'svc.session': started.run.sessionId },
  })
  if (refused) {
    yield dataFrame({ type: 'RUN_ERROR', message: refused.error, ...(refused.code && { code: refused.code }) })
    return
  }
  try {
    const translator = createAgUiTranslator(started.run.id, isText)
    for await (const event of followDoorRun(services, caller, started, signal))
      for (const each of translator.translate(event)) yield dataFrame(each)
    if (signal.aborted) return
    const { run, state } = await readDoorState(services, caller, started.run.id)
    for (const each of translator.end(state.at === 'completed' ? state.text : undefined)) yield dataFrame(each)
    yield dataFrame(await endOf(services, caller, run, state, names))
  } catch (error) {
    // The stream has begun, so its status can say nothing any more.
    services.log.write('error', 'ag-ui: a stream failed', { runId: started.run.id, detail: detailOf(error) })
    const { message, code } = isFailure(error) ? error : fail('internal')
    yield dataFrame({ type: 'RUN_ERROR', message: services.redactor.text(message), code })
  }
}

async function endOf(
  services: ServerServices,
  { principal }: AuthenticatedCaller,
  run: Run,
  state: DoorState,
  names: { readonly threadId: string; readonly runId: string },
): Promise<AgUiEvent> {
  const finished = { type: 'RUN_FINISHED', ...names }
  switch (state.at) {
    case 'completed':
      return { ...finished, result: run.output, outcome: { type: 'success' }, usage: [usageOf(run)] }
    case 'cancelled':
      return { ...finished, outcome: { type: 'cancelled' } }
    case 'failed':
      return { type: 'RUN_ERROR', message: services.redactor.text(state.message), code: state.code }
    case 'working':
      return { type: 'RUN_ERROR', message: state.text, code: 'still_working' }
    case 'waiting': {
      if (state.pending.length === 0) return { type: 'RUN_ERROR', message: state.text, code: 'waits_elsewhere' }
      const tasks = seesTimeline(principal) ? await services.store.pendingTasks(run.sessionId) : []
      const interrupts = toInterrupts(state.pending, tasks, services.serverState.consoleUrl)
      return { ...finished, outcome: { type: 'interrupt', interrupts } }
    }
  }
}

const usageOf = ({ usage: { inputTokens, outputTokens } }: Run) => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
})
