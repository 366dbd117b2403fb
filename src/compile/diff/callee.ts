/** What an agent version may call, and the facts from which its policies decide about it. */
import { factsOfAgent, factsOfTool } from '../../policy/callee-facts.ts'
import type { CallFacts, HistoryMeasure, PolicySets } from '../../policy/condition/decision.ts'
import { historyText } from '../../policy/condition/history.ts'
import { argumentAt } from '../../policy/condition/path.ts'
import type { JsonValue } from '../../base/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import type { BoundAgent, JsonSchema, AgentSnapshot } from '../../spec/snapshot.ts'
import type { ComparedClosure } from './closure.ts'

export interface ComparedCallee {
  readonly agent: AgentSnapshot
  readonly kind: 'tool' | 'agent'
  readonly wire: string
  /** `namespace.name`. */
  readonly id: string
  readonly sideEffectClass?: SideEffectClass
  /** Arguments must satisfy each of these. */
  readonly schemas: readonly JsonSchema[]
  readonly facts: CallFacts['tool']
  /** True for a late-bound edge: version and labels are known only at the time of the call. */
  readonly late: boolean
  /** True if a policy is compared alone: agent and tool are unknown, but the same for both versions. */
  readonly anyone?: boolean
}

/** Arguments of a delegation without a schema of its own. Source: decisions, section 9. */
const MESSAGE: JsonSchema = {
  type: 'object',
  properties: { message: { type: 'string' } },
  required: ['message'],
  additionalProperties: false,
}

export function calleesOf(closure: ComparedClosure, agent: AgentSnapshot): readonly ComparedCallee[] {
  return [
    ...agent.tools.map((tool): ComparedCallee => ({
      agent,
      kind: 'tool',
      wire: tool.wire,
      id: tool.id,
      ...(tool.sideEffectClass && { sideEffectClass: tool.sideEffectClass }),
      schemas: tool.inputSchemas,
      facts: factsOfTool(tool),
      late: false,
    })),
    ...agent.agents.map((bound): ComparedCallee => {
      const child = bound.lateBound ? undefined : closure.agents.get(bound.id)
      return {
        agent,
        kind: 'agent',
        wire: bound.wire,
        id: bound.id,
        schemas: delegationSchemas(bound, child),
        facts: factsOfAgent(bound, child),
        late: bound.lateBound,
      }
    }),
  ]
}

function delegationSchemas(
  { inputSchema, lateBound }: BoundAgent,
  child: AgentSnapshot | undefined,
): readonly JsonSchema[] {
  const schema = inputSchema ?? child?.inputContract
  return schema !== undefined ? [schema] : lateBound ? [] : [MESSAGE]
}

/** The policies that apply to a call, including those of ancestors: their gates and allow lists apply below them, their grants do not. */
export function entriesFor({ own, ancestors }: PolicySets, { wire, id }: ComparedCallee): readonly PolicyEntry[] {
  const ids = new Set(own.index[wire])
  const found = new Map(own.entries.filter((entry) => ids.has(entry.id)).map((entry) => [entry.id, entry]))
  for (const { entries, inherited } of ancestors)
    for (const entry of entries)
      if (inherited.includes(entry.id) && entry.effect !== 'grant' && (entry.scope === undefined || entry.scope === id))
        found.set(entry.id, entry)
  return [...found.values()]
}

/** Facts other than arguments, by path; absent = the first call of a plain run. */
export type CallContext = Readonly<Record<string, JsonValue>>

/** A Monday, noon. */
const NOON = Date.UTC(2026, 0, 5, 12)

/** Facts of a call of `callee`, as the policies of `callee.agent` read them. */
export function factsOf({ agent, facts: tool }: ComparedCallee, args: JsonValue, context: CallContext = {}): CallFacts {
  const given = (path: string, otherwise: JsonValue): never =>
    // The table of domains gives each path only values of its own type.
    (Object.hasOwn(context, path) ? context[path] : otherwise) as never
  const trigger = given('principal.trigger_name', 'api') as string | null
  return {
    args,
    tool,
    agent: {
      id: agent.id,
      version: agent.version,
      ...(agent.riskTier !== undefined && { risk_tier: agent.riskTier }),
      classifications: agent.classifications,
      labels: agent.labels,
    },
    run: {
      depth: given('run.depth', 0),
      is_subagent: given('run.is_subagent', false),
      iteration: given('run.iteration', 1),
      elapsed_seconds: given('run.elapsed_seconds', 0),
      tokens_used: given('run.tokens_used', 0),
      trigger_type: given('run.trigger_type', 'api'),
      taint: given('run.taint', false),
    },
    session: {
      run_count: given('session.run_count', 1),
      tokens_used: given('session.tokens_used', 0),
      elapsed_seconds: given('session.elapsed_seconds', 0),
    },
    principal: {
      type: given('principal.type', 'api_key'),
      id: given('principal.id', 'someone'),
      ...(trigger !== null && { trigger_name: trigger }),
    },
    svc: { dispatch: { trigger: given('svc.dispatch.trigger', 'none') }, limit: given('svc.limit', 'none') },
    now: given('time.now', NOON),
    history(scope, whose, measure, windowMs) {
      const key = historyText(scope, whose, measure, windowMs)
      if (!Object.hasOwn(context, key)) return firstCallMeasure(measure, args)
      const value = context[key]
      return typeof value === 'number' ? value : undefined
    },
  }
}

/** History measures of a run's first call: they count only this call. */
function firstCallMeasure(measure: HistoryMeasure, args: JsonValue): number | undefined {
  if (typeof measure === 'string') return measure === 'attempts' || measure === 'executed' ? 1 : 0
  const value = argumentAt(args, measure.total)
  return typeof value === 'number' ? value : undefined
}
