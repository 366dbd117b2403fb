/** An answer that is whole was paid: how its connection ends afterwards does not matter, and it is not asked for again. */
import { afterEach, describe, expect, test } from 'vitest'
import { startFakeModel, type FakeModel } from '../fakes/model-server.ts'
import { openAt } from './open-at.ts'
import { clockAt, complete, requestWith } from './request.ts'

let fake: FakeModel | undefined
afterEach(() => fake?.close())

type Wire = Parameters<typeof openAt>[0]

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
const STOP = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: 9, output_tokens: 5 } }

/** Streams as far as the reason for which the answer ended, and what may follow. */
const STREAMS: readonly (readonly [Wire, until: string, rest: string])[] = [
  [
    'openai-compatible',
    data({ choices: [{ delta: { content: 'hello' } }] }) + data({ choices: [{ delta: {}, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ],
  [
    'openai',
    data({ type: 'response.output_text.delta', delta: 'hello' }) +
      data({ type: 'response.completed', response: { status: 'completed' } }),
    '',
  ],
  [
    'anthropic',
    data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } }) + data(STOP),
    data({ type: 'message_stop' }),
  ],
  [
    'gemini',
    data({ candidates: [{ content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP' }] }),
    '',
  ],
]

/** Serves a text in an event stream, then ends the connection as told. */
async function serve(text: string, end: 'reset' | 'open' | 'end'): Promise<FakeModel> {
  fake = await startFakeModel([{}], (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (end === 'end') response.end(text)
    else response.write(text, () => end === 'reset' && setImmediate(() => response.destroy()))
  })
  return fake
}

describe.each(STREAMS)('%s', (wire, until, rest) => {
  test.each([
    ['the connection is reset after the reason', until, 'reset'],
    ['the connection is reset after the end', until + rest, 'reset'],
    ['the stream ends after the reason', until, 'end'],
    ['the stream ends within the event after the reason', `${until}data: {"usa`, 'end'],
  ] as const)('%s', async (_, text, end) => {
    const { url, requests } = await serve(text, end)
    const { completion } = await complete(openAt(wire, url), requestWith())
    expect([completion.text, completion.finishReason, requests.length]).toEqual(['hello', 'stop', 1])
  })
})

test.each(STREAMS.filter(([wire]) => wire !== 'gemini'))(
  '%s: a connection that stays open after the end is closed',
  async (wire, until, rest) => {
    const { url } = await serve(until + rest, 'open')
    const { completion } = await complete(openAt(wire, url), requestWith())
    expect(completion.text).toBe('hello')
  },
)

test('a connection that breaks before the reason loses the answer', async () => {
  const { url } = await serve(data({ choices: [{ delta: { content: 'hello' } }] }), 'reset')
  await expect(complete(openAt('openai-compatible', url), requestWith())).rejects.toMatchObject({
    message: 'The connection to the model provider failed: The connection was closed early.',
    retryable: true,
  })
})

test.each([
  ['comments', ': still here\n\n'],
  ['pings', data({ type: 'ping' })],
  ['empty deltas', data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' } })],
])('a server that sends nothing but %s for half an hour has failed', async (_, sign) => {
  fake = await startFakeModel([{}], (_answer, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (): void => void (response.writable && response.write(sign, () => setImmediate(send)))
    send()
  })
  let minutes = 0
  // Each sign of life comes ten minutes after the one before it.
  const clock = { ...clockAt(0), monotonic: () => (minutes += 10) * 60_000 }
  await expect(complete(openAt('anthropic', fake.url, clock), requestWith())).rejects.toMatchObject({
    message: 'The connection to the model provider failed: It sent nothing but signs of life for 30 min.',
    retryable: true,
    outage: 'provider_unreachable',
  })
})
