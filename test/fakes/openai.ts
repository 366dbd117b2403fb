import type { ServerResponse } from 'node:http'
import { pieces, startFakeModel, type FakeAnswer, type FakeModel, type FakeScript } from './model-server.ts'

/**
 * Speaks OpenAI's responses and chat completions as server-sent events. The base address is `${url}/v1`, for Azure `url`.
 * @param thinking answers wait for it
 */
export const startFakeOpenai = (script: FakeScript, thinking?: Promise<void>): Promise<FakeModel> =>
  startFakeModel(script, (answer, response, { path }) => {
    const write = () => (path.includes('/chat/completions') ? writeChat : writeResponse)(answer, response)
    if (thinking) void thinking.then(write)
    else write()
  })

/** Answers with an HTTP error where the script says so. */
function writeError(answer: FakeAnswer, response: ServerResponse): boolean {
  if (answer.status === undefined) return false
  response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
  const { message = 'failed', type = null, code = null, param = null } = answer.error ?? {}
  response.end(JSON.stringify({ error: { message, type, code, param } }))
  return true
}

function writeChat(answer: FakeAnswer, response: ServerResponse): void {
  if (writeError(answer, response)) return
  response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers })
  const send = (choices: readonly unknown[], more: object = {}): void =>
    void response.write(
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake', choices, ...more })}\n\n`,
    )
  const delta = (value: object): void => send([{ index: 0, delta: value, finish_reason: null }])
  delta({ role: 'assistant', content: '' })
  for (const piece of pieces(answer.say ?? '')) delta({ content: piece })
  if (answer.hang) return
  answer.calls?.forEach((call, index) => {
    delta({
      tool_calls: [
        { index, id: call.id ?? `call_${index}`, type: 'function', function: { name: call.name, arguments: '' } },
      ],
    })
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
    for (const piece of pieces(text)) delta({ tool_calls: [{ index, function: { arguments: piece } }] })
  })
  if (answer.cut) {
    // What was said arrives before the connection ends.
    setImmediate(() => response.destroy())
    return
  }
  if (answer.error) {
    response.end(`data: ${JSON.stringify({ error: answer.error })}\n\n`)
    return
  }
  if (answer.finish === '') {
    response.end()
    return
  }
  send([{ index: 0, delta: {}, finish_reason: answer.finish ?? (answer.calls ? 'tool_calls' : 'stop') }])
  if (answer.usage)
    send([], {
      usage: {
        prompt_tokens: answer.usage.input,
        completion_tokens: answer.usage.output,
        total_tokens: answer.usage.input + answer.usage.output,
        ...(answer.usage.cached && { prompt_tokens_details: { cached_tokens: answer.usage.cached } }),
        ...(answer.usage.reasoning && { completion_tokens_details: { reasoning_tokens: answer.usage.reasoning } }),
      },
    })
  response.end('data: [DONE]\n\n')
}

function writeResponse(answer: FakeAnswer, response: ServerResponse): void {
  if (writeError(answer, response)) return
  response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers })
  let sequence_number = 0
  const send = (type: string, more: object): void =>
    void response.write(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...more })}\n\n`,
    )
  const output: object[] = []
  const item = (done: object, start: object, deltas: readonly (readonly [string, string])[]): void => {
    const output_index = output.length
    send('response.output_item.added', { output_index, item: start })
    for (const [type, delta] of deltas) send(type, { output_index, delta })
    if (answer.hang) return
    send('response.output_item.done', { output_index, item: done })
    output.push(done)
  }
  send('response.created', { response: { id: 'resp_1', status: 'in_progress', output: [] } })
  if (answer.thinking) {
    const { text, signature } = answer.thinking
    const id = 'rs_1'
    const summary = [{ type: 'summary_text', text }]
    item(
      { type: 'reasoning', id, summary, encrypted_content: signature },
      { type: 'reasoning', id, summary: [] },
      pieces(text).map((piece) => ['response.reasoning_summary_text.delta', piece] as const),
    )
  }
  const isRefused = answer.finish === 'refusal'
  if (answer.say !== undefined) {
    const message = { type: 'message', id: 'msg_1', role: 'assistant' }
    const content = isRefused
      ? { type: 'refusal', refusal: answer.say }
      : { type: 'output_text', text: answer.say, annotations: [] }
    item(
      { ...message, status: 'completed', content: [content] },
      { ...message, status: 'in_progress', content: [] },
      pieces(answer.say).map((piece) => [`response.${isRefused ? 'refusal' : 'output_text'}.delta`, piece] as const),
    )
  }
  for (const each of answer.blocks ?? []) item(each, each, [])
  if (answer.hang) return
  answer.calls?.forEach((call, index) => {
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
    const start = {
      type: 'function_call',
      id: `fc_${index}`,
      call_id: call.id ?? `call_${index}`,
      name: call.name,
      arguments: '',
    }
    item(
      { ...start, arguments: text },
      start,
      pieces(text).map((piece) => ['response.function_call_arguments.delta', piece] as const),
    )
  })
  if (answer.cut) {
    // What was said arrives before the connection ends.
    setImmediate(() => response.destroy())
    return
  }
  if (answer.error) {
    const { message, code = null } = answer.error
    send('response.failed', { response: { id: 'resp_1', status: 'failed', output, error: { message, code } } })
    response.end()
    return
  }
  if (answer.finish === '') {
    response.end()
    return
  }
  const { finish = 'completed' } = answer
  const reason = finish === 'completed' || isRefused ? null : finish
  const status = reason === null ? 'completed' : 'incomplete'
  const { usage } = answer
  send(`response.${status}`, {
    response: {
      id: 'resp_1',
      status,
      output,
      incomplete_details: reason === null ? null : { reason },
      ...(usage && {
        usage: {
          input_tokens: usage.input,
          output_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          input_tokens_details: { cached_tokens: usage.cached ?? 0, cache_write_tokens: usage.written ?? 0 },
          output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
        },
      }),
    },
  })
  response.end()
}
