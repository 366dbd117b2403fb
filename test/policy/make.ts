import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { readCondition, writeCondition, type Condition } from '../../src/policy/condition/condition.ts'
import type { CallFacts, PolicySets } from '../../src/policy/condition/decision.ts'
import { entryIdOf, sealSet } from '../../src/policy/policy-set.ts'
import type { PolicyEntry, PolicySet } from '../../src/spec/policy-set.ts'

/** The facts of one call of `acme.refunds` by a root run; a test names what it changes. */
export function makeFacts(
  changes: Omit<Partial<CallFacts>, 'tool' | 'run'> & {
    tool?: Partial<CallFacts['tool']>
    run?: Partial<CallFacts['run']>
  } = {},
): CallFacts {
  const { tool, run, ...others } = changes
  return {
    args: {},
    agent: { id: 'acme.refund-desk', version: '1.2.0', classifications: ['pii'], labels: { team: 'claims' } },
    session: { run_count: 1, tokens_used: 10, elapsed_seconds: 3 },
    principal: { type: 'api_key', id: 'key-1', trigger_name: 'api' },
    svc: { dispatch: { trigger: 'none' }, limit: 'none' },
    // A Wednesday, 10:30 UTC.
    now: Date.UTC(2026, 0, 14, 10, 30),
    history: () => 0,
    ...others,
    tool: {
      id: 'acme.refunds',
      version: '1.0.0',
      wire_name: 'refunds',
      kind: 'tool',
      labels: { 'svc/data': 'private' },
      ...tool,
    },
    run: {
      depth: 0,
      is_subagent: false,
      iteration: 1,
      elapsed_seconds: 2,
      tokens_used: 5,
      trigger_type: 'api',
      taint: false,
      ...run,
    },
  }
}

/** A condition without problems. */
export function conditionOf(value: JsonValue): Condition {
  const { condition, problems } = readCondition(value)
  if (!condition) throw new Error(JSON.stringify(problems))
  return condition
}

export function makeEntry(
  entry: Partial<PolicyEntry> & { when?: JsonObject } & Pick<PolicyEntry, 'effect'>,
): PolicyEntry {
  const { when, ...given } = entry
  const whole = {
    policy: 'demo.policy',
    version: '1.0.0',
    obligations: {},
    origin: [],
    ...given,
    ...(when && { when: writeCondition(conditionOf(when)) }),
  }
  return { ...whole, id: entryIdOf(whole) }
}

/** A set in which every entry concerns the call of wire name `refunds`. */
export function makeSet(entries: readonly PolicyEntry[], inherited: readonly PolicyEntry[] = []): PolicySet {
  const all = [...new Map([...entries, ...inherited].map((entry) => [entry.id, entry])).values()]
  return sealSet({
    v: 1,
    compiler: '1',
    agent: 'acme.refund-desk',
    entries: all,
    index: { refunds: entries.map((entry) => entry.id) },
    inherited: inherited.map((entry) => entry.id),
  })
}

export const setsOf = (...entries: readonly PolicyEntry[]): PolicySets => ({ own: makeSet(entries), ancestors: [] })
