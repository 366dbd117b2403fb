/** Requests a second and their times, beside an empty route measured in the same round. See README.md. */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { createParser } from 'eventsource-parser'
import { gather } from './fan-out.ts'
import { startModel } from '../engine/model.ts'
import { load, type Measured } from './load.ts'
import { pendingCost } from './pending-cost.ts'
import { readerCost } from './reader-cost.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 9)
const SECONDS = Number(process.env['SECONDS'] ?? 0.4)
const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 32)
const SESSIONS = (process.env['SESSIONS'] ?? '1000,10000,100000').split(',').map(Number)
const FOLLOWED = 40
/** Parts to measure: reader, pending, delays, fan-out, readers, routes, sizes. */
const ONLY = process.env['ONLY']?.split(',')
const wants = (part: string): boolean => ONLY?.includes(part) ?? true
const READERS = Number(process.env['READERS'] ?? 5000)

interface Product {
  readonly port: number
  readonly key: string
  readonly agentId: string
  /** An agent whose model is asked over HTTP, as models of vendors are. */
  readonly spoken: { readonly agentId: string; readonly key: string }
  readonly runId: string
  /** A run that waits for an approval. */
  readonly approving: { readonly runId: string; readonly key: string }
  /** A run with a long timeline. */
  readonly long: { readonly runId: string; readonly steps: number }
  /** A run that goes on when it is answered, which nobody does, and keys that may read it. */
  readonly waiting: { readonly runId: string; readonly keys: readonly string[] }
  /** A run that says one piece at each reply, `paced` times, then `pieces` at once. */
  readonly talking: {
    readonly runId: string
    readonly keys: readonly string[]
    readonly paced: number
    readonly pieces: number
  }
}

const children: ChildProcess[] = []
function open<T>(file: string, ...args: string[]): Promise<T & { readonly child: ChildProcess }> {
  const child = fork(new URL(file, import.meta.url), args, {
    execArgv: ['--import', 'tsx', '--expose-gc'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.once('message', (about) => resolve({ ...(about as T), child }))
    child.once('exit', () => reject(new Error(`${file} ended.`)))
  })
}

const plain = (method: string, path: string, headers: Readonly<Record<string, string>> = {}, body = ''): string =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries({
    ...headers,
    ...(body && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
  })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!
const middle = (rounds: readonly Measured[]): Omit<Measured, 'count'> => ({
  perSecond: median(rounds.map(({ perSecond }) => perSecond)),
  p50: median(rounds.map(({ p50 }) => p50)),
  p99: median(rounds.map(({ p99 }) => p99)),
})
/** Tells a goal and whether it is met; one that is not fails the run. */
function gate(what: string, value: number, goal: number, isMet = value >= goal): void {
  console.log(`${isMet ? 'met' : 'MISSED'}: ${what} ${value.toFixed(2)} (goal ${goal})`)
  if (!isMet) process.exitCode = 1
}
const row = (name: string, { perSecond, p50, p99 }: Omit<Measured, 'count'>, share: number): string =>
  `| ${name} | ${Math.round(perSecond)} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${share.toFixed(2)} |`

const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'))
const model = await startModel()
try {
  const [node, h3] = [await open<{ port: number }>('empty.ts', 'node'), await open<{ port: number }>('empty.ts', 'h3')]
  const small = await open<Product>('product.ts', join(directory, 'small'), '0', model.url)
  if (wants('reader')) {
    const reader = median(await readerCost(small))
    gate('CPU of a run with a reader, x without one (G19)', reader, 1.5, reader <= 1.5)
  }
  if (wants('pending')) await pendingShare(small)
  if (wants('delays')) await delays(small)
  if (wants('fan-out')) await fanOut((await open<{ port: number }>('raw-stream.ts')).port, small)
  if (wants('readers')) await readers(small)
  if (wants('routes')) await routes(node.port, h3.port, small)
  small.child.disconnect()
  if (wants('sizes')) await sizes()
} finally {
  for (const child of children) if (child.connected) child.disconnect()
  await model.close()
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}

async function pendingShare(small: Product & { readonly child: ChildProcess }): Promise<void> {
  const status = (runId: string, key: string): string => plain('GET', `/v1/runs/${runId}`, { 'x-api-key': key })
  const pending = await pendingCost(small, {
    with: status(small.approving.runId, small.approving.key),
    without: status(small.runId, small.key),
  })
  gate('CPU of get run with an approval that waits, x without', median(pending), 1.3, median(pending) <= 1.3)
}

async function routes(node: number, h3: number, { port, key, agentId, runId }: Product): Promise<void> {
  const headers = { 'x-api-key': key }
  const reply = JSON.stringify({ runId, text: 'A reply that nobody waits for.' })
  const subjects: readonly (readonly [string, number, string])[] = [
    ['empty, node:http', node, plain('GET', '/empty')],
    ['empty, h3', h3, plain('GET', '/empty')],
    ['health', port, plain('GET', '/v1/healthz')],
    ['get run', port, plain('GET', `/v1/runs/${runId}`, headers)],
    ['conversation', port, plain('GET', `/v1/runs/${runId}/conversation`, headers)],
    ['messages, refused by the run', port, plain('POST', `/v1/runs/${runId}/messages`, headers, reply)],
    ['start run', port, plain('POST', `/v1/agents/${agentId}/runs`, headers, '{"input":{"message":"Hello."}}')],
  ]
  const seen = new Map<string, Measured[]>()
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, at, request] of subjects) {
      const one = { port: at, connections: CONNECTIONS, milliseconds: SECONDS * 1000, request: () => request }
      seen.set(name, [...(seen.get(name) ?? []), await load(one)])
    }
  const empty = seen.get('empty, h3')!
  // Within a round, since whoever shares the machine comes and goes.
  const shareOf = (rounds: readonly Measured[]): number =>
    median(rounds.map(({ perSecond }, round) => perSecond / empty[round]!.perSecond))
  console.log(`\n${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s\n`)
  console.log('| route | requests/s | p50 ms | p99 ms | of empty h3 |\n|---|---|---|---|---|')
  for (const [name, rounds] of seen) console.log(row(name, middle(rounds), shareOf(rounds)))
  console.log('')
  gate('get run, of the empty h3 route', shareOf(seen.get('get run')!), 0.5)
}

/** From the moment an event says it happened to the moment a reader has it, over runs that are started one by one. */
async function delays({ port, key, agentId }: Product): Promise<void> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const late: number[] = []
  const first: number[] = []
  const ends: number[] = []
  for (let n = 0; n < FOLLOWED; n++) {
    const sent = performance.now()
    const started = await fetch(`http://127.0.0.1:${port}/v1/agents/${agentId}/runs`, {
      method: 'POST',
      headers,
      body: '{"input":{"message":"Hello."}}',
    })
    const { runId } = (await started.json()) as { runId: string }
    const stream = await fetch(`http://127.0.0.1:${port}/v1/runs/${runId}/stream`, { headers })
    let any = false
    const parser = createParser({
      onEvent({ data }) {
        if (!any) first.push(performance.now() - sent)
        any = true
        late.push(Math.max(0, Date.now() - Date.parse((JSON.parse(data) as { ts: string }).ts)))
      },
    })
    const decoder = new TextDecoder()
    for await (const chunk of stream.body!) parser.feed(decoder.decode(chunk, { stream: true }))
    ends.push(late.at(-1)!)
  }
  const at = (values: number[], share: number): string =>
    values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!.toFixed(1)
  console.log(
    `\n${FOLLOWED} runs followed: from POST to the first event p50 ${at(first, 0.5)} ms, p99 ${at(first, 0.99)} ms;`,
  )
  console.log(`from an event's own time to its reader p50 ${at(late, 0.5)} ms, p99 ${at(late, 0.99)} ms.`)
  gate('ms from the last event to its reader (G11)', median(ends), 5, median(ends) <= 5)
}

function average(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length
}

/** How long a piece of model text takes to 10 readers, and how fast 200 have all of many, beside a server that only writes. */
async function fanOut(raw: number, { port, talking: { runId, keys, paced, pieces } }: Product): Promise<void> {
  const ours = (n: number): string => plain('GET', `/v1/runs/${runId}/stream`, { 'x-api-key': keys[n % keys.length]! })
  const reply = (): Promise<unknown> =>
    fetch(`http://127.0.0.1:${port}/v1/runs/${runId}/messages`, {
      method: 'POST',
      headers: { 'x-api-key': keys[0]!, 'content-type': 'application/json' },
      body: JSON.stringify({ runId, text: 'Go on.' }),
    })
  const send = (count: number): Promise<unknown> =>
    fetch(`http://127.0.0.1:${raw}/send?count=${count}`, { method: 'POST' })
  /** Both in turn, since whoever shares the machine comes and goes. */
  const delaysOf = async (subjects: readonly (readonly [number, (n: number) => string, () => Promise<unknown>])[]) => {
    const audiences = await Promise.all(
      subjects.map(([at, request]) =>
        gather(
          at,
          Array.from({ length: 10 }, (_, n) => request(n)),
        ),
      ),
    )
    for (let said = 0; said < paced; said++)
      for (const [at, [, , speak]] of subjects.entries()) {
        await Promise.all([audiences[at]!.heard(1), speak()])
        await pause(40)
      }
    for (const { leave } of audiences) leave()
    // The first pieces are those of code that nobody has run yet, on both sides. Of the rest the usual one counts.
    return audiences.map(({ delays }) => delays.slice(delays.length / 3)).map((each) => [average(each), median(each)])
  }
  const timeOf = async (at: number, request: (n: number) => string, speak: () => Promise<unknown>) => {
    const audience = await gather(
      at,
      Array.from({ length: 200 }, (_, n) => request(n)),
    )
    const started = performance.now()
    await Promise.all([audience.heard(pieces), speak()])
    const ms = performance.now() - started
    audience.leave()
    return ms
  }
  const read = (): string => plain('GET', '/')
  const [[rawDelay, rawUsual], [delay, usual]] = (await delaysOf([
    [raw, read, () => send(1)],
    [port, ours, reply],
  ])) as [[number, number], [number, number]]
  const [rawTime, time] = [await timeOf(raw, read, () => send(pieces)), await timeOf(port, ours, reply)]
  console.log(
    `\nA piece of model text to 10 readers: ${delay.toFixed(2)} ms, of a server that only writes ${rawDelay.toFixed(2)} ms (medians ${usual} and ${rawUsual});`,
  )
  console.log(`${pieces} pieces to 200 readers: ${time.toFixed(0)} ms and ${rawTime.toFixed(0)} ms.`)
  gate('delay to 10 readers, of raw (G12)', delay / rawDelay, 1.5, delay <= 1.5 * rawDelay)
  gate('fan-out to 200 readers, of raw (G12)', rawTime / time, 0.6)
}

/** What a reader costs that waits for a run that waits. */
async function readers({ port, waiting, child }: Product & { readonly child: ChildProcess }): Promise<void> {
  const memory = (): Promise<number> =>
    new Promise((resolve) => {
      child.once('message', ({ rss }: { rss: number }) => resolve(rss))
      child.send('memory')
    })
  const before = await memory()
  const sockets: Socket[] = []
  for (let n = 0; n < READERS; n++) {
    const key = waiting.keys[n % waiting.keys.length]!
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1' }, () =>
        socket.write(plain('GET', `/v1/runs/${waiting.runId}/stream`, { 'x-api-key': key })),
      )
      socket.setEncoding('latin1')
      socket.on('data', (chunk: string) => chunk.includes(': live') && resolve())
      socket.on('error', reject)
      sockets.push(socket)
    })
  }
  const each = ((await memory()) - before) / READERS / 1024
  console.log(`\n${READERS} readers at once: ${each.toFixed(1)} KiB each.`)
  // What fewer cost is mostly what the process would take anyway.
  if (READERS >= 5000) gate('KiB of a reader', each, 30, each < 30)
  for (const socket of sockets) socket.destroy()
}

/** What reads cost as the store grows. */
async function sizes(): Promise<void> {
  console.log(
    '\n| stored sessions | first page p50 ms | skip to the end p50 ms | get run p50 ms | long timeline p50 ms | get run beside it p99 ms |\n|---|---|---|---|---|---|',
  )
  for (const count of SESSIONS) {
    const { port, key, agentId, runId, long, child } = await open<Product>(
      'product.ts',
      join(directory, `s${count}`),
      String(count),
      model.url,
    )
    const timeOf = async (path: string): Promise<number> => {
      const request = plain('GET', path, { 'x-api-key': key })
      return (await load({ port, connections: 1, milliseconds: 500, request: () => request })).p50
    }
    const time = async (path: string): Promise<string> => (await timeOf(path)).toFixed(2)
    // While one reader asks for the long timeline again and again, another asks for a run.
    const beside = async (): Promise<string> => {
      const ask = (path: string) => plain('GET', path, { 'x-api-key': key })
      const read = (path: string) => load({ port, connections: 1, milliseconds: 1000, request: () => ask(path) })
      const [{ p99 }] = await Promise.all([read(`/v1/runs/${runId}`), read(`/v1/runs/${long.runId}/conversation`)])
      return p99.toFixed(2)
    }
    const list = `/v1/agents/${agentId}/sessions?take=50`
    const first = await timeOf(list)
    console.log(
      `| ${count} | ${first.toFixed(2)} | ${await time(`${list}&skip=${count - 50}`)} | ${await time(`/v1/runs/${runId}`)} | ${await time(`/v1/runs/${long.runId}/conversation`)} (${long.steps} steps) | ${await beside()} |`,
    )
    child.disconnect()
    if (count === SESSIONS.at(-1)) gate(`p50 ms of the first page of ${count} sessions`, first, 2, first <= 2)
  }
}
