import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json.ts'
import { startFakeMcp } from '../fakes/mcp.ts'
import { closing, running, scripted, tool } from './running.ts'

/** Schemas of which each makes a check long for some value. */
const shapes: Record<string, JsonObject> = {
  unique: { type: 'array', uniqueItems: true, items: { type: 'object' } },
  required: { type: 'array', items: { required: Array.from({ length: 10 }, (_, at) => `field${at}`) } },
  oneOf: { type: 'array', items: { oneOf: Array.from({ length: 300 }, (_, at) => ({ required: [`a${at}`] })) } },
  anyOf: {
    items: { anyOf: Array.from({ length: 150 }, (_, at) => ({ type: 'object', properties: { [`a${at}`]: false } })) },
  },
  exponential: { anyOf: [{ type: 'string', pattern: '^(a|a)*$' }, { items: { pattern: '^(a|a)*$' } }] },
  quadratic: { anyOf: [{ type: 'string', pattern: '^a*a*$' }, { patternProperties: { 'a+$': {} } }] },
  recursive: {
    $ref: '#/$defs/a',
    $defs: { a: { properties: { x: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } } } },
  },
  format: { anyOf: [{ type: 'string', format: 'email' }, { items: { format: 'uri' } }] },
}

/** Values of up to a megabyte. */
const values: Record<string, JsonValue> = {
  empty: Array.from({ length: 150_000 }, () => ({})),
  rows: Array.from({ length: 30_000 }, (_, at) => ({ at, a299: 1 })),
  text: `${'a'.repeat(500_000)}b`,
  texts: Array.from({ length: 5000 }, () => `${'a'.repeat(60)}b`),
  names: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`${'a'.repeat(40)}${at}`, 1])),
  deep: JSON.parse('{"x":'.repeat(50) + '1' + '}'.repeat(50)) as JsonValue,
}

/** Processor time of the main thread, in milliseconds. */
const cpuMs = (): number => Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6

/**
 * The longest turn of the event loop, in processor time of its thread: what a request of somebody else waits for. On a busy
 * machine it stays the same.
 */
function watchTurns() {
  let last = cpuMs()
  let longestMs = 0
  const look = (): void => {
    const now = cpuMs()
    longestMs = Math.max(longestMs, now - last)
    last = now
  }
  const timer = setInterval(look, 1)
  return () => {
    look()
    clearInterval(timer)
    return longestMs
  }
}

/** Of processor time, beyond what the same value takes where nothing checks it. */
const MAX_TURN_MS = 60
const MAX_GROWTH_MB = 64

const contractOf = (shape: string): JsonObject => {
  const { $defs, ...schema } = shapes[shape]!
  return { type: 'object', properties: { a: schema }, ...($defs !== undefined && { $defs }) }
}

/** An agent that takes any input that fits. */
const taker = (shape?: string) =>
  running({ snapshot: scripted([{ say: 'ok' }], [], shape === undefined ? {} : { inputContract: contractOf(shape) }) })

/** The longest turn of the loop for each value as the input of a run. */
async function turnsOf({ server, agentId, secret }: Awaited<ReturnType<typeof taker>>) {
  const turns: Record<string, number> = {}
  for (const [name, a] of Object.entries(values)) {
    const body = JSON.stringify({ input: { a } })
    const stop = watchTurns()
    const answer = await fetch(`${server.url}/v1/agents/${agentId}/runs`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body,
    })
    expect([202, 422]).toContain(answer.status)
    await answer.text()
    turns[name] = stop()
  }
  return turns
}

// The processor time of a thread is known on Linux alone.
describe.runIf(process.platform === 'linux')('nobody waits for what others send', () => {
  let unchecked: Record<string, number> = {}
  beforeAll(async () => {
    await turnsOf(await taker('unique'))
    unchecked = await turnsOf(await taker())
  })

  test.each(Object.keys(shapes))('in a request, where the contract is %s', async (shape) => {
    const turns = await turnsOf(await taker(shape))
    const more = Object.entries(turns).map(([name, ms]) => ({ name, ms: ms - unchecked[name]! }))
    expect(more.filter(({ ms }) => ms >= MAX_TURN_MS)).toEqual([])
  })

  test.each([
    ['mock', 'unique', 'rows'],
    ['mock', 'required', 'rows'],
    ['mock', 'oneOf', 'rows'],
    ['mock', 'anyOf', 'rows'],
    ['mock', 'exponential', 'text'],
    ['mock', 'quadratic', 'text'],
    ['mock', 'recursive', 'deep'],
    ['mock', 'format', 'text'],
    ['mcp', 'unique', 'rows'],
    ['mcp', 'exponential', 'text'],
    ['mcp', 'recursive', 'deep'],
  ] as const)('in the result of a tool: %s, %s, %s', async (route, shape, name) => {
    const result = { a: values[name]! }
    const answer = () => ({ structuredContent: result, content: [] })
    const fake = await startFakeMcp('stateless', [{ name: 'get', answer }])
    closing(() => fake.close())
    const get = tool('acme.get', {
      sideEffectClass: 'read_only',
      outputSchema: contractOf(shape),
      ...(route === 'mcp' && { mcp: { server: 'far', tool: 'get' } }),
    })
    const { start, until } = await running({
      snapshot: scripted([{ call: { tool: 'get', arguments: {} } }, { say: 'ok' }], [get], {
        mcpServers: [{ name: 'far', url: fake.url }],
      }),
      config: {
        network: { allowed_hosts: ['127.0.0.1'] },
        ...(route === 'mock' && { tools: { 'acme.get': { mock: [{ result }] } } }),
      },
    })
    const stop = watchTurns()
    const { body } = await start()
    await until(body['runId']!, 'engine.run.completed')
    expect(stop()).toBeLessThan(100)
  })

  test('and memory stays bounded', async () => {
    const { server, agentId, secret } = await taker('required')
    const body = JSON.stringify({ input: { a: values['empty'] } })
    const post = async (): Promise<number> => {
      const answer = await fetch(`${server.url}/v1/agents/${agentId}/runs`, {
        method: 'POST',
        headers: { 'x-api-key': secret, 'content-type': 'application/json' },
        body,
      })
      await answer.text()
      return answer.status
    }
    await post()
    collectGarbage()
    const atFirst = usedMiB()
    for (let time = 0; time < 10; time++) {
      collectGarbage()
      const before = usedMiB()
      expect(await post()).toBe(422)
      // Nothing has been collected but by chance: this is what the request took.
      expect(usedMiB() - before).toBeLessThan(MAX_GROWTH_MB)
    }
    collectGarbage()
    expect(usedMiB() - atFirst).toBeLessThan(MAX_GROWTH_MB / 8)
  })
})

function usedMiB(): number {
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1024 / 1024
}

/** A resident size depends on when the heap was last collected; what is used after a collection does not. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}
