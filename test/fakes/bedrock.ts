import type { ServerResponse } from 'node:http'
import { crc32 } from 'node:zlib'
import { pieces, startFakeModel, type FakeAnswer, type FakeModel, type FakeScript } from './model-server.ts'

/** Speaks Bedrock's ConverseStream in AWS's binary event stream. The base address is `url`. */
export const startFakeBedrock = (script: FakeScript): Promise<FakeModel> => startFakeModel(script, write)

function write(answer: FakeAnswer, response: ServerResponse): void {
  if (answer.status !== undefined) {
    const { message = 'failed', type = 'InternalServerException' } = answer.error ?? {}
    response.writeHead(answer.status, {
      'content-type': 'application/json',
      'x-amzn-errortype': type,
      ...answer.headers,
    })
    response.end(JSON.stringify({ message }))
    return
  }
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream', ...answer.headers })
  const send = (type: string, payload: object): void =>
    void response.write(frame({ ':message-type': 'event', ':event-type': type }, payload))
  let contentBlockIndex = 0
  const block = (deltas: readonly object[], start?: object): void => {
    if (start) send('contentBlockStart', { contentBlockIndex, start })
    for (const delta of deltas) send('contentBlockDelta', { contentBlockIndex, delta })
    if (!answer.hang) send('contentBlockStop', { contentBlockIndex })
    contentBlockIndex++
  }
  send('messageStart', { role: 'assistant' })
  if (answer.thinking)
    block([
      { reasoningContent: { text: answer.thinking.text } },
      { reasoningContent: { signature: answer.thinking.signature } },
    ])
  if (answer.say !== undefined) block(pieces(answer.say).map((text) => ({ text })))
  if (answer.hang) return
  answer.calls?.forEach(({ id, name, arguments: args }, index) =>
    block(
      pieces(typeof args === 'string' ? args : JSON.stringify(args)).map((input) => ({ toolUse: { input } })),
      { toolUse: { toolUseId: id ?? `tooluse_${index}`, name } },
    ),
  )
  if (answer.cut) {
    // What was said arrives before the connection ends.
    setImmediate(() => response.destroy())
    return
  }
  if (answer.error) {
    const { type = 'throttlingException', code, message } = answer.error
    const headers: Readonly<Record<string, string>> =
      code === undefined
        ? { ':message-type': 'exception', ':exception-type': type }
        : { ':message-type': 'error', ':error-code': code, ':error-message': message }
    response.end(frame(headers, { message }))
    return
  }
  if (answer.finish !== '') {
    send('messageStop', { stopReason: answer.finish ?? (answer.calls ? 'tool_use' : 'end_turn') })
    const { usage } = answer
    if (usage)
      send('metadata', {
        usage: {
          inputTokens: usage.input,
          outputTokens: usage.output,
          totalTokens: usage.input + usage.output,
          ...(usage.cached !== undefined && { cacheReadInputTokens: usage.cached }),
          ...(usage.written !== undefined && { cacheWriteInputTokens: usage.written }),
        },
        metrics: { latencyMs: 1 },
      })
  }
  response.end()
}

/** One message: lengths, their checksum, headers of type text, payload, checksum of it all. */
function frame(headers: Readonly<Record<string, string>>, payload: object): Buffer {
  const head = Buffer.concat(
    Object.entries({ ...headers, ':content-type': 'application/json' }).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + head.length + body.length, 0)
  prelude.writeUInt32BE(head.length, 4)
  const whole = Buffer.concat([prelude, checksum(prelude), head, body])
  return Buffer.concat([whole, checksum(whole)])
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}
