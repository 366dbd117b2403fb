/** POST responses, and what became of one. A response is a run. */
import { toJsonLine } from '../../../base/json/json-line.ts'
import { fail } from '../../../base/failure.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { AuthenticatedCaller } from '../../auth/auth.ts'
import { runInScope } from '../../auth/scope.ts'
import { apiBodyLimits, readJson } from '../../http/body.ts'
import { innerCall } from '../../http/inner-call.ts'
import { okReply } from '../../http/reply.ts'
import { type HttpRequestContext, readPathParam } from '../../http/route.ts'
import { cancelRun } from '../../routes/runs.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { readDoorState, type DoorState } from '../door-run.ts'
import { awaitAnswer, readUsed, restOf, streamAnswer, textOfState } from './chat-completions.ts'
import { parseResponsesRequest, type ResponsesRequest } from './chat-request.ts'
import { serveChat, type ChatRun } from './chat-run.ts'
import { toSeconds, type OpenAiHandler } from './openai-reply.ts'

export const createResponse: OpenAiHandler = async (services, call, caller) => {
  const request = parseResponsesRequest(await readJson(call, apiBodyLimits(services.config)))
  return await serveChat(services, call, caller, request, {
    stream: (started, signal) => responseFrames(services, caller, request, started, signal),
    async reply(started, signal) {
      const { run, state } = request.background
        ? await readDoorState(services, caller, started.run.id)
        : await awaitAnswer(services, caller, started, signal)
      return okReply(await describeResponse(services, run, state, request, started))
    },
  })
}

export const getResponse: OpenAiHandler = async (services, call, caller) => {
  const { id } = await responseInScope(services, call, caller)
  const { run, state } = await readDoorState(services, caller, id)
  const request = { model: run.agentName, background: true }
  return okReply(await describeResponse(services, run, state, request, {}))
}

export const cancelResponse: OpenAiHandler = async (services, call, caller) => {
  const run = await responseInScope(services, call, caller)
  await cancelRun(services, async () => caller)(innerCall(call, { runId: run.id }, { body: '{}' }))
  return await getResponse(services, call, caller)
}

async function responseInScope(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
): Promise<Run> {
  const [, id] = /^resp_(.+)$/.exec(readPathParam(call, 'id')) ?? []
  if (id === undefined) throw fail('not_found', { what: 'response' })
  return await runInScope(services, caller.principal, id)
}

type Described = Pick<ResponsesRequest, 'model' | 'background' | 'previousResponse'>

/** A run that waits is completed for a client that reads one answer, and in progress for one that asks again. */
const statusOf = (state: DoorState, { background }: Described): string => {
  if (state.at === 'failed' || state.at === 'cancelled' || state.at === 'completed') return state.at
  return background || state.at === 'working' ? 'in_progress' : 'completed'
}

async function describeResponse(
  services: ServerServices,
  run: Run,
  state: DoorState,
  request: Described,
  started: Pick<ChatRun, 'usedBefore'>,
) {
  const error = state.at === 'failed' ? { code: state.code, message: services.redactor.text(state.message) } : null
  const { input, output } = await readUsed(services, run, started)
  const text = state.at === 'failed' || state.at === 'cancelled' ? undefined : textOfState(state)
  return {
    ...headOf(run, request, statusOf(state, request)),
    error,
    output: text === undefined ? [] : [messageOf(run, text)],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  }
}

const headOf = (run: Run, { model, background, previousResponse }: Described, status: string) => ({
  id: `resp_${run.id}`,
  object: 'response',
  created_at: toSeconds(run.startedAt),
  status,
  background,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model,
  output: [] as readonly unknown[],
  parallel_tool_calls: true,
  previous_response_id: previousResponse ?? null,
  store: true,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
  usage: null,
  metadata: { 'svc.run': run.id, 'svc.session': run.sessionId, 'svc.status': run.status },
})

const partOf = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })

const messageOf = ({ id }: Run, text: string, status = 'completed') => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  status,
  content: status === 'completed' ? [partOf(text)] : [],
})

async function* responseFrames(
  services: ServerServices,
  caller: AuthenticatedCaller,
  request: ResponsesRequest,
  started: ChatRun,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let number = 0
  const frame = (type: string, data: object): string =>
    `event: ${type}\ndata: ${toJsonLine({ type, sequence_number: number++, ...data })}\n\n`
  const response = headOf(started.run, request, 'in_progress')
  const item = { item_id: `msg_${started.run.id}`, output_index: 0, content_index: 0 }
  yield frame('response.created', { response })
  yield frame('response.in_progress', { response })
  yield frame('response.output_item.added', { output_index: 0, item: messageOf(started.run, '', 'in_progress') })
  yield frame('response.content_part.added', { ...item, part: partOf('') })
  const toDelta = (delta: string): string => frame('response.output_text.delta', { ...item, delta, logprobs: [] })
  const sent = yield* streamAnswer(services, caller, started, signal, toDelta)
  if (signal.aborted) return
  const { run, state } = await readDoorState(services, caller, started.run.id)
  const described = await describeResponse(services, run, state, request, started)
  if (state.at === 'failed') return yield frame('response.failed', { response: described })
  const rest = restOf(textOfState(state), sent)
  if (rest !== '') yield toDelta(rest)
  const text = sent + rest
  const whole = messageOf(run, text)
  yield frame('response.output_text.done', { ...item, text, logprobs: [] })
  yield frame('response.content_part.done', { ...item, part: partOf(text) })
  yield frame('response.output_item.done', { output_index: 0, item: whole })
  yield frame('response.completed', { response: { ...described, status: 'completed', output: [whole] } })
}
