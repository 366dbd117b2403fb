/**
 * Two verbs at the same instant on one run, for every pair of verbs and both kinds of runs. A ledger outside counts what arrived, and
 * what people approved is compared with it.
 */
import { createServer } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import type { ToolRouteConfig } from '../../src/spec/project/config.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { listen, stop } from '../fakes/model-server.ts'
import { closing, policiesFor, scripted, tool } from './running.ts'

export const VERBS = ['retry', 'fork', 'resume', 'undo', 'cancel', 'erase'] as const
export type Verb = (typeof VERBS)[number]

/** Every pair, each verb with itself, too. */
export const VERB_PAIRS: readonly (readonly [Verb, Verb])[] = VERBS.flatMap((one, at) =>
  VERBS.slice(at).map((two) => [one, two] as const),
)

/** Pays at once, then refunds once a person approves. */
export const PAYING: AgentSnapshot = scripted(
  [
    { call: { tool: 'pay', arguments: { order: '${input.order}' } } },
    { say: 'A refund is due.', call: { tool: 'refunds', arguments: { order: '${input.order}' } } },
    { say: 'done' },
  ],
  [
    tool('acme.pay', {
      sideEffectClass: 'non_idempotent_write',
      labels: { 'svc/undone-by': 'acme.pay_back', 'svc/undo-arguments': '{"key": "{result.key}"}' },
    }),
    tool('acme.pay_back', { sideEffectClass: 'irreversible_action' }),
    tool('acme.refunds', { sideEffectClass: 'irreversible_action' }),
  ],
  { policies: policiesFor('pay', 'pay_back', 'refunds') },
)

export interface PairLedger {
  readonly tools: Readonly<Record<string, ToolRouteConfig>>
  /** How often each call arrived: tool and idempotency key. */
  readonly arrivals: ReadonlyMap<string, number>
}

/** A server outside that counts calls. */
export async function openPairLedger(): Promise<PairLedger> {
  const arrivals = new Map<string, number>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const { tool: name, idempotency_key: key } = JSON.parse(text) as { tool: string; idempotency_key: string }
      arrivals.set(`${name} ${key}`, (arrivals.get(`${name} ${key}`) ?? 0) + 1)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ key }))
    })
  })
  const url = await listen(server)
  closing(() => stop(server))
  const tools = Object.fromEntries(
    ['pay', 'pay_back', 'refunds'].map((name) => [`acme.${name}`, { http: { url: `${url}/${name}` } }]),
  )
  return { tools, arrivals }
}

/** What a verb asks for, as line and body. */
export function requestOf(
  verb: Verb,
  { runId, sessionId, toolCallId }: { readonly runId: string; readonly sessionId: string; readonly toolCallId: string },
): readonly [string, unknown] {
  switch (verb) {
    case 'fork':
      return ['POST /runs/fork', { runs: [runId], at: 1 }]
    case 'undo':
      return [`POST /runs/${runId}/undo`, { calls: [{ runId, toolCallId }] }]
    case 'erase':
      return [`DELETE /sessions/${sessionId}`, undefined]
    default:
      return [`POST /runs/${runId}/${verb}`, {}]
  }
}

/** Lets the event loop take so many turns, by which one request leaves before the other. */
export async function takeTurns(count: number): Promise<void> {
  for (let at = 0; at < count; at++) await turn()
}
