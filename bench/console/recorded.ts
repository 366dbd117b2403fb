/** A server whose store holds as many recorded decisions and steps as asked for, as the engine would have stored them. */
import { digestOfJson } from '../../src/base/digest.ts'
import { agentIdOf, versionIdOf, workspaceIdOf } from '../../src/base/ids.ts'
import { openRefundServer, REFUND_DESK, type RefundServer } from '../../scripts/screens/refund-server.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import { aRun, aSession, aStep, anUpdate, NO_LIMITS } from '../../test/store/makers.ts'

/** Decisions of one session. */
const EACH = 10

interface DeployedRoot {
  readonly workspace: string
  readonly snapshot: AgentSnapshot
}

async function rootOf({ operator }: RefundServer): Promise<DeployedRoot> {
  const { workspace } = await operator.call('GET /status', {})
  return { workspace, snapshot: await operator.call('GET /snapshot', { query: { agent: REFUND_DESK } }) }
}

const sessionOf = (name: string, { workspace, snapshot: { id, version, digest } }: DeployedRoot, steps: number) =>
  aSession(name, {
    workspaceId: workspaceIdOf(workspace),
    agentId: agentIdOf(workspace, id),
    agentName: id,
    agentVersionId: versionIdOf(workspace, id, digest),
    versionLabel: version,
    triggerId: null,
    triggerName: null,
    triggerType: 'operator',
    status: 'Completed',
    finishedAt: Date.UTC(2026, 0, 3),
    lastOrdinal: steps,
  })

const ended = { at: 'done', outcome: 'completed' } as never

export async function openWithDecisions(count: number, each = EACH): Promise<RefundServer> {
  const desk = await openRefundServer()
  const root = await rootOf(desk)
  for (let made = 0; made < count; made += each) {
    const session = sessionOf(`decided-${made}`, root, each)
    const run = aRun(session, { lastSequence: each, state: ended })
    const calls = Array.from({ length: each }, (_, at) => {
      const args = { order: `A-${made + at}`, amount: (made + at) % 1500, currency: 'EUR' }
      return {
        sessionId: session.id,
        runId: run.id,
        callId: `c${at}`,
        agentId: session.agentId,
        ref: 'acme.refunds',
        argumentsDigest: digestOfJson(args),
        arguments: args,
        state: 'executed',
        attempt: 1,
        idempotencyKey: `svc:${run.id}:${at}:0`,
        at: Date.UTC(2026, 0, 2),
      }
    })
    const steps = calls.map(({ callId, arguments: { amount } }, at) =>
      aStep(session, at + 1, {
        type: 'PolicyDecision',
        content: {
          tool_call_id: callId,
          name: 'refunds',
          decision: amount > 100 ? 'require_approval' : 'allow',
          policies: [],
          explanation: '',
        },
        hidden: {
          facts: {
            run: { iteration: 1, elapsed_seconds: 1, tokens_used: 1, taint: false },
            session: { run_count: 1, tokens_used: 1, elapsed_seconds: 1 },
          },
        },
      }),
    )
    await desk.server.store.start(anUpdate(session, { runs: [run], steps, calls, busy: false }), NO_LIMITS)
  }
  return desk
}

const TYPES = ['Reasoning', 'PolicyDecision', 'ToolCall', 'ToolResult'] as const

/** @returns the path of a run with that many steps */
export async function addLongRun(desk: RefundServer, steps: number): Promise<string> {
  const session = sessionOf(`long-${steps}`, await rootOf(desk), steps)
  const run = aRun(session, { lastSequence: steps, state: ended })
  const rows = Array.from({ length: steps }, (_, at) =>
    aStep(session, at + 1, {
      type: TYPES[at % 4]!,
      content: {
        text: `thought ${at + 1}`,
        name: 'lookup',
        ref: 'acme.orders.lookup',
        decision: 'allow',
        tool_call_id: `c${at >> 2}`,
      },
    }),
  )
  await desk.server.store.start(anUpdate(session, { runs: [run], steps: rows, busy: false }), NO_LIMITS)
  return `/runs/${run.id}?all=1`
}
