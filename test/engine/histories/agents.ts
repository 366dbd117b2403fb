/** The agents of a history, and the version to which operators move its runs. */
import type { AgentSnapshot } from '../../../src/spec/snapshot.ts'
import { COMPLETION, COMPLETION_TIMEOUT } from '../../../src/spec/steer/wait.ts'
import { boundAgent, builtin, policy, snapshotOf, tool, type AgentSpec } from '../bench.ts'
import { CLASSES, OUTSIDE, UNDONE, type HistoryPlan } from './plan.ts'

/** What is wrong in the controls. */
export interface Weakness {
  readonly classes?: typeof CLASSES
  /** The engine does not know what is paused. */
  readonly isBlind?: boolean
  /** The version to which runs move decides as the one before. */
  readonly isLax?: boolean
}

export function agentsOf({ budget, asks, noIsFatal }: HistoryPlan, { classes = CLASSES, isLax = false }: Weakness) {
  const tools = Object.keys(CLASSES).map((name) => {
    const { sideEffectClass: _, ...undeclared } = tool(name)
    const given = classes[name]
    return {
      ...undeclared,
      ...(given && { sideEffectClass: given }),
      ...(name === UNDONE.tool && {
        labels: {
          'svc/undone-by': `acme.${UNDONE.by}`,
          'svc/undo-arguments': '{"n": "{args.n}", "takes": "{args.takes}", "outcome": "{args.outcome}"}',
        },
      }),
      ...(name === OUTSIDE && { labels: { [COMPLETION]: 'external', [COMPLETION_TIMEOUT]: '2m' } }),
    }
  })
  const on_reject = noIsFatal ? 'fail' : 'return_to_agent'
  const policies = [
    { on: ['sign'], entry: policy('two', { obligations: { approvals_required: 2, on_reject } }) },
    { on: ['pay', UNDONE.by], entry: policy('one', { obligations: { on_reject } }) },
  ]
  const helper = snapshotOf({ name: 'child', tools, policies, limits: { max_wall_clock_seconds: 600 } })
  const spec: AgentSpec = {
    name: 'root',
    tools: [...tools, builtin('ask_user'), waitTool('wait_event'), waitTool('wait_until')],
    agents: [boundAgent(helper)],
    policies,
    limits: {
      max_wall_clock_seconds: 1200,
      on_limit: asks ? 'escalate' : 'halt',
      ...(budget !== null && { max_tokens_per_run: budget }),
    },
  }
  const agent = snapshotOf(spec)
  const tighter = ['one', 'two'].map((name, at) => ({
    on: at === 0 ? ['post', UNDONE.by] : ['pay', 'sign'],
    entry: policy(`tighter ${name}`, { obligations: { approvals_required: at + 1, on_reject } }),
  }))
  const made = snapshotOf({ ...spec, policies: isLax ? policies : tighter })
  const next: AgentSnapshot = { ...made, version: '1.0.1' }
  return { agent, helper, next, tools }
}

const waitTool = (name: 'wait_event' | 'wait_until') => tool(name, { id: `svc.${name}`, builtin: true })
