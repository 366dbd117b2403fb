import type { ServerResponse } from 'node:http'
import { pieces, startFakeModel, type FakeAnswer, type FakeModel, type FakeScript } from './model-server.ts'

/** Speaks OpenAI's chat completions as a stream of server-sent events. The base address is `${url}/v1`. */
export const startFakeOpenai = (script: FakeScript): Promise<FakeModel> => startFakeModel(script, write)

function write(answer: FakeAnswer, response: ServerResponse): void {
  if (answer.status !== undefined) {
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(
      JSON.stringify({
        error: { message: answer.error?.message ?? 'failed', type: answer.error?.type ?? null, code: null },
      }),
    )
    return
  }
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
  send([{ index: 0, delta: {}, finish_reason: answer.finish ?? (answer.calls ? 'tool_calls' : 'stop') }])
  if (answer.usage)
    send([], {
      usage: {
        prompt_tokens: answer.usage.input,
        completion_tokens: answer.usage.output,
        total_tokens: answer.usage.input + answer.usage.output,
      },
    })
  response.end('data: [DONE]\n\n')
}
