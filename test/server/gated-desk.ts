/** A refund desk whose refunds ask for a proof, in a server with a console; its refund waits. */
import { entryIdOf, sealSet } from '../../src/policy/policy-set.ts'
import type { RunStatusBody } from '../../src/spec/api.ts'
import type { DecisionProof } from '../../src/spec/people/decision-proof.ts'
import type { ApprovalObligations, PolicyEntry } from '../../src/spec/policy-set.ts'
import type { SideEffectClass } from '../../src/spec/document.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { RunningServer, ServerOptions } from '../../src/server/open.ts'
import { openWithConsole } from '../console/browser-session.ts'
import { snapshotOf } from './fixtures.ts'
import { caller, desk, DESK, publishDesk } from './running.ts'

function gatedDesk(obligations: ApprovalObligations, sideEffectClass: SideEffectClass): AgentSnapshot {
  const gate: Omit<PolicyEntry, 'id'> = {
    policy: 'acme.gate',
    version: '1.0.0',
    effect: 'require_approval',
    obligations,
    reason: 'Refunds need a person.',
    origin: [{ kind: 'default', doc: 'acme.gate@1.0.0' }],
  }
  const id = entryIdOf(gate)
  const policies = sealSet({
    v: 1,
    compiler: 'test',
    agent: DESK,
    entries: [{ ...gate, id }],
    index: { lookup: [], refunds: [id] },
    inherited: [],
  })
  const { digest: _, ...rest } = desk
  const tools = rest.tools.map((each) => (each.wire === 'refunds' ? { ...each, sideEffectClass } : each))
  return snapshotOf(DESK, '1.0.0', { ...rest, tools, policies })
}

export interface WaitingRefund extends ReturnType<typeof caller> {
  readonly server: RunningServer
  readonly secret: string
  readonly runId: string
  readonly userTaskId: string
  /** The address of another refund that waits. */
  again(): Promise<{ readonly runId: string; readonly userTaskId: string }>
}

export async function openWaitingRefund(
  least?: DecisionProof,
  given: Partial<ServerOptions> = {},
  more: ApprovalObligations = {},
  sideEffectClass: SideEffectClass = 'irreversible_action',
): Promise<WaitingRefund> {
  const server = await openWithConsole(given)
  const snapshot = gatedDesk({ ...more, ...(least !== undefined && { approval_proof: least }) }, sideEffectClass)
  const { agentId, secret } = await publishDesk(server.operator, {}, snapshot)
  const calls = caller(server.url, secret)
  async function again() {
    const started = await calls.post<{ runId: string }>(`/v1/agents/${agentId}/runs`, {
      input: { order: 'A-1042', amount: 180 },
    })
    const { runId } = started.body
    await calls.until(runId, 'engine.session.paused')
    const { pending } = await calls.get<RunStatusBody>(`/v1/runs/${runId}`)
    return { runId, userTaskId: pending![0]!.userTaskId! }
  }
  return { server, secret, ...calls, ...(await again()), again }
}
