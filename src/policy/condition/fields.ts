/** The roots of condition paths other than `args` and `history`, and how each field is read. Source: policies, section 2. */
import type { JsonValue } from '../../base/json.ts'
import type { CallFacts } from './decision.ts'

type FactReader = (facts: CallFacts) => JsonValue | undefined

const namespaceOf = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf('.')))
const nameOf = (id: string): string => id.slice(id.lastIndexOf('.') + 1)

/** A missing entry is an unknown field; a value of `undefined` is an absent one. */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, FactReader>>>> = {
  tool: {
    id: (facts) => facts.tool.id,
    namespace: (facts) => namespaceOf(facts.tool.id),
    name: (facts) => nameOf(facts.tool.id),
    version: (facts) => facts.tool.version,
    wire_name: (facts) => facts.tool.wire_name,
    kind: (facts) => facts.tool.kind,
    mcp_server: (facts) => facts.tool.mcp_server,
    side_effect_class: (facts) => facts.tool.side_effect_class,
    labels: (facts) => facts.tool.labels,
  },
  agent: {
    id: (facts) => facts.agent.id,
    namespace: (facts) => namespaceOf(facts.agent.id),
    name: (facts) => nameOf(facts.agent.id),
    version: (facts) => facts.agent.version,
    risk_tier: (facts) => facts.agent.risk_tier,
    classifications: (facts) => facts.agent.classifications as JsonValue[],
    labels: (facts) => facts.agent.labels,
  },
  run: {
    depth: (facts) => facts.run.depth,
    is_subagent: (facts) => facts.run.is_subagent,
    iteration: (facts) => facts.run.iteration,
    elapsed_seconds: (facts) => facts.run.elapsed_seconds,
    tokens_used: (facts) => facts.run.tokens_used,
    trigger_type: (facts) => facts.run.trigger_type,
    taint: (facts) => facts.run.taint,
  },
  session: {
    run_count: (facts) => facts.session.run_count,
    tokens_used: (facts) => facts.session.tokens_used,
    elapsed_seconds: (facts) => facts.session.elapsed_seconds,
  },
  principal: {
    type: (facts) => facts.principal.type,
    id: (facts) => facts.principal.id,
    trigger_name: (facts) => facts.principal.trigger_name,
  },
  time: { now: (facts) => facts.now },
  svc: {
    dispatch: (facts) => ({ trigger: facts.svc.dispatch.trigger }),
    limit: (facts) => facts.svc.limit,
  },
}
