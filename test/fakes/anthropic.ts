import type { ServerResponse } from 'node:http'
import { pieces, startFakeModel, type FakeAnswer, type FakeModel, type FakeScript } from './model-server.ts'

/** Speaks Anthropic's messages as a stream of server-sent events. The base address is `url`. */
export const startFakeAnthropic = (script: FakeScript): Promise<FakeModel> => startFakeModel(script, write)

function write(answer: FakeAnswer, response: ServerResponse): void {
  if (answer.status !== undefined) {
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(
      JSON.stringify({
        type: 'error',
        error: { type: answer.error?.type ?? 'api_error', message: answer.error?.message ?? 'failed' },
      }),
    )
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers })
  const send = (type: string, more: object): void =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
  const usage: NonNullable<FakeAnswer['usage']> = answer.usage ?? { input: 10, output: 5 }
  send('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'fake',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: usage.input,
        output_tokens: 1,
        ...(usage.cached !== undefined && { cache_read_input_tokens: usage.cached }),
        ...(usage.written !== undefined && { cache_creation_input_tokens: usage.written }),
      },
    },
  })
  let index = 0
  const block = (start: object, deltas: readonly object[]): void => {
    send('content_block_start', { index, content_block: start })
    for (const delta of deltas) send('content_block_delta', { index, delta })
    if (!answer.hang) send('content_block_stop', { index })
    index++
  }
  if (answer.thinking)
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...pieces(answer.thinking.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: answer.thinking.signature },
    ])
  if (answer.say !== undefined)
    block(
      { type: 'text', text: '' },
      pieces(answer.say).map((text) => ({ type: 'text_delta', text })),
    )
  for (const each of answer.blocks ?? []) block(each, [])
  if (answer.hang) return
  for (const call of answer.calls ?? []) {
    if (call.whole !== undefined) {
      const start = `{"type":"tool_use","id":"toolu_${index}","name":"${call.name}","input":${call.whole}}`
      const event = `{"type":"content_block_start","index":${index},"content_block":${start}}`
      response.write(`event: content_block_start\ndata: ${event}\n\n`)
      index++
      continue
    }
    const text = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments)
    block(
      { type: 'tool_use', id: call.id ?? `toolu_${index}`, name: call.name, input: {} },
      pieces(text).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    )
  }
  if (answer.cut) {
    // What was said arrives before the connection ends.
    setImmediate(() => response.destroy())
    return
  }
  if (answer.error) {
    send('error', { error: { type: answer.error.type ?? 'api_error', message: answer.error.message } })
    response.end()
    return
  }
  if (answer.finish === '') {
    response.end()
    return
  }
  send('message_delta', {
    delta: { stop_reason: answer.finish ?? (answer.calls ? 'tool_use' : 'end_turn'), stop_sequence: null },
    usage: {
      output_tokens: usage.output,
      input_tokens: null,
      ...(usage.reasoning !== undefined && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
    },
  })
  send('message_stop', {})
  response.end()
}
