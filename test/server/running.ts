/** A whole server on loopback with the real engine, mock tools and scripted models, and calls of it. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { onTestFinished } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { silentLog, type Log } from '../../src/base/log.ts'
import { digestOf } from '../../src/base/digest.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { openServer, type RunningServer, type ServerOptions } from '../../src/server/open.ts'
import type { Conversation } from '../../src/spec/api.ts'
import type { BoundTool, ScriptTurn, AgentSnapshot } from '../../src/spec/snapshot.ts'
import { bucketUrl } from '../bucket.ts'
import { snapshotOf } from './fixtures.ts'
import { removeDirectory } from '../remove-directory.ts'

export const DESK = 'acme.refund-desk'

/** Closed after the test, last first. */
export const closing = (close: () => Promise<unknown> | void): void => onTestFinished(async () => void (await close()))

export function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'svc-test-'))
  closing(() => removeDirectory(path))
  return join(path, 'data')
}

export const tool = (id: string, extra: Partial<BoundTool>): BoundTool => ({
  wire: id.slice(id.lastIndexOf('.') + 1),
  id,
  version: '1.0.0',
  description: id,
  inputSchema: { type: 'object' },
  inputSchemas: [{ type: 'object' }],
  labels: {},
  ...extra,
})

export const policiesFor = (...wires: readonly string[]): AgentSnapshot['policies'] =>
  sealSet({
    v: 1,
    compiler: 'test',
    agent: DESK,
    entries: [],
    index: Object.fromEntries(wires.map((wire) => [wire, []])),
    inherited: [],
  })

/** Looks the order up, refunds it with an approval, and says what it did. */
export const desk: AgentSnapshot = snapshotOf(DESK, '1.0.0', {
  model: {
    provider: 'scripted',
    name: 'script',
    script: [
      { call: { tool: 'lookup', arguments: { order: '${input.order}' } } },
      { say: 'A refund is due.', call: { tool: 'refunds', arguments: { amount: '${input.amount}' } } },
      { say: { refunded: '${results.refunds.refunded}' } },
    ],
  },
  tools: [
    tool('acme.orders.lookup', { sideEffectClass: 'read_only' }),
    tool('acme.refunds', { sideEffectClass: 'irreversible_action' }),
  ],
  policies: policiesFor('lookup', 'refunds'),
  output: { format: 'json', strict: false, on_invalid: 'fail' },
  inputContract: {
    type: 'object',
    required: ['order', 'amount'],
    properties: { order: { type: 'string' }, amount: { type: 'number' } },
  },
})

export const options = (dataDirectory?: string): ServerOptions => ({
  ...(dataDirectory !== undefined && { dataDirectory }),
  workspace: 'acme',
  config: {
    tools: {
      'acme.orders.lookup': { mock: [{ result: { status: 'delivered' } }] },
      'acme.refunds': { mock: [{ result: { refunded: 180 } }] },
    },
  },
  configDirectory: tmpdir(),
  env: { PATH: process.env['PATH'], SVC_OPERATOR: 'ana@acme.example' },
  version: '0.1.0',
  log: silentLog,
})

type Fetching = { fetch(request: Request): Promise<Response> }

export async function ask<T = never>(app: Fetching, line: string, body?: unknown): Promise<T> {
  const [method, path] = line.split(' ') as [string, string]
  const response = await app.fetch(
    new Request(`http://operator.svc${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    }),
  )
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error(JSON.stringify(answer))
  return answer as T
}

export async function publishDesk(
  operator: Fetching,
  key: object = {},
  snapshot = desk,
  trigger: object = {},
): Promise<{ agentId: string; secret: string; keyId: string }> {
  const bundle = { root: DESK, agents: [snapshot], documents: [], closureDigest: digestOf(snapshot.digest) }
  await ask(operator, 'POST /publish', { bundle, deploy: true })
  await ask(operator, 'POST /triggers', { agent: DESK, type: 'api', allowApprovals: true, ...trigger })
  return ask(operator, 'POST /keys', { agent: DESK, trigger: 'api', ...key })
}

interface Posted<T> {
  readonly status: number
  readonly body: T
}

/** Calls of one server with one key. */
export function caller(url: string, secret: string) {
  const headers = { 'x-api-key': secret, 'content-type': 'application/json' }
  const get = async <T>(path: string) => (await (await fetch(url + path, { headers })).json()) as T
  const post = async <T>(path: string, body: unknown): Promise<Posted<T>> => {
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as T }
  }
  const events = async (runId: string, after?: number) => {
    const response = await fetch(`${url}/v1/runs/${runId}/stream`, {
      headers: { ...headers, ...(after !== undefined && { 'last-event-id': String(after) }) },
    })
    if (!response.body) return { status: response.status, events: [] }
    const all: { id: number; subject: string; kind: string }[] = []
    for await (const { id, data } of response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream()))
      if (id !== undefined) all.push({ id: Number(id), ...(JSON.parse(data) as { subject: string; kind: string }) })
    return { status: response.status, events: all }
  }
  /** Follows the stream until the run pauses or ends; nothing is polled. */
  const until = async (runId: string, subject: string, after = 0): Promise<number> => {
    const stop = new AbortController()
    const response = await fetch(`${url}/v1/runs/${runId}/stream`, {
      headers: { ...headers, 'last-event-id': String(after) },
      signal: stop.signal,
    })
    for await (const { id, data } of response
      .body!.pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())) {
      if ((JSON.parse(data) as { subject: string }).subject !== subject) continue
      stop.abort()
      return Number(id)
    }
    throw new Error(`The stream ended without ${subject}.`)
  }
  return { get, post, events, until }
}

export const taskOf = ({ items }: Conversation): string =>
  (items.find(({ type }) => type === 'UserTaskReq')!.content as { user_task_id: string }).user_task_id

let makeDatabase: (() => Promise<string>) | undefined

/** From now on `running` opens its servers on a database of their own, instead of in memory. */
export const useDatabases = (make: () => Promise<string>): void => void (makeDatabase = make)

/** Servers that share a database name a bucket. */
const ownBucket = async () => ({ storage: { url: await bucketUrl() } })

/** A server in memory with one agent deployed and a key for it. */
export async function running(
  given: {
    readonly snapshot?: AgentSnapshot
    readonly key?: object
    readonly trigger?: object
    readonly config?: ServerOptions['config']
    readonly env?: ServerOptions['env']
    readonly clock?: Clock
    readonly log?: Log
    /** Address of a database; in memory where absent. */
    readonly store?: string
  } = {},
) {
  const base = options()
  const store = given.store ?? (await makeDatabase?.())
  const opened: ServerOptions = {
    ...base,
    config: { ...base.config, ...given.config, ...(store !== undefined && (await ownBucket())) },
    env: { ...base.env, ...given.env },
    ...(store !== undefined && { store }),
    ...(given.clock && { clock: given.clock }),
    ...(given.log && { log: given.log }),
  }
  const server: RunningServer = await openServer(opened)
  closing(() => server.close())
  const made = await publishDesk(server.operator, given.key, given.snapshot, given.trigger)
  const calls = caller(server.url, made.secret)
  const start = (input: unknown = {}, more: object = {}) =>
    calls.post<Record<string, string>>(`/v1/agents/${made.agentId}/runs`, { input, ...more })
  return {
    server,
    /** With which another server of the same store is opened. */
    opened,
    ...made,
    ...calls,
    start,
    operator: (line: string, body?: unknown) => ask(server.operator, line, body),
  }
}

/** An agent that plays this script with these tools and no policy. */
export const scripted = (
  script: readonly ScriptTurn[],
  tools: readonly BoundTool[] = [],
  extra: Partial<AgentSnapshot> = {},
): AgentSnapshot =>
  snapshotOf(DESK, '1.0.0', {
    model: { provider: 'scripted', name: 'script', script },
    tools,
    policies: policiesFor(...tools.map(({ wire }) => wire)),
    ...extra,
  })
