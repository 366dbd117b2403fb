/** Every call of an agent with the decisions of its policies: `svc compile --matrix`. Source: policies, section 7. */
import { readCondition } from '../../policy/condition/condition.ts'
import { describeCondition } from '../../policy/condition/describe.ts'
import { EFFECT_KEY, EFFECT_WINDOW, effectRepeatOf } from '../../policy/condition/effect-key.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import type { AgentSnapshot, BoundTool } from '../../spec/snapshot.ts'
import { inheritedFor } from './ancestors.ts'

export interface MatrixRow {
  /** `namespace.name` of the called tool or agent. */
  readonly tool: string
  readonly wire: string
  readonly kind: 'tool' | 'agent'
  readonly decision: 'allow' | 'deny' | 'require_approval' | 'escalate'
  /** `namespace.name@version` of the policy, `effect key`, or `default`. */
  readonly by: string
  /** The condition; the class if the default decides; the effect key of a repetition; `always`; or `otherwise`. */
  readonly when: string
}

/** From strict to loose, the order in which they decide. */
const ORDER = ['deny', 'restrict', 'escalate', 'require_approval', 'grant'] as const

/** @param ancestors of the agent; their gates apply to its calls too */
export function authorityMatrix(
  snapshot: AgentSnapshot,
  ancestors: readonly AgentSnapshot[] = [],
): readonly MatrixRow[] {
  const entries = new Map(snapshot.policies.entries.map((entry) => [entry.id, entry]))
  const of = (wire: string, tool: string) => {
    const own = (snapshot.policies.index[wire] ?? []).flatMap((id) => entries.get(id) ?? [])
    return [...own, ...inheritedFor(ancestors, tool, own).map(({ entry }) => entry)]
  }
  return [
    ...snapshot.tools.flatMap(({ wire, id, sideEffectClass, labels }) =>
      rowsOf(
        { tool: id, wire, kind: 'tool' },
        {
          entries: of(wire, id),
          byDefault: sideEffectClass ?? 'undeclared class',
          isIrreversible: sideEffectClass === 'irreversible_action',
          repetition: repetitionOf(labels, sideEffectClass),
        },
      ),
    ),
    ...snapshot.agents.flatMap(({ wire, id }) =>
      rowsOf({ tool: id, wire, kind: 'agent' }, { entries: of(wire, id), byDefault: 'delegation' }),
    ),
  ]
}

interface CallRules {
  readonly entries: readonly PolicyEntry[]
  /** What is said of a call that no policy concerns. */
  readonly byDefault: string
  readonly isIrreversible?: boolean
  readonly repetition?: Repetition | undefined
}

function rowsOf(
  call: Pick<MatrixRow, 'tool' | 'wire' | 'kind'>,
  { entries, byDefault, isIrreversible = false, repetition }: CallRules,
): MatrixRow[] {
  const rows: MatrixRow[] = []
  for (const effect of ORDER) {
    if (repetition?.effect === effect) rows.push({ ...call, ...repetition.row })
    for (const entry of [...entries].filter((each) => each.effect === effect).sort(byName)) {
      rows.push({ ...call, decision: decisionOf(entry), by: `${entry.policy}@${entry.version}`, when: whenOf(entry) })
      // Nothing is evaluated after a policy that always decides.
      if (entry.when === undefined && effect !== 'restrict') return rows
    }
  }
  const decision = isIrreversible ? 'require_approval' : 'allow'
  return [...rows, { ...call, decision, by: 'default', when: rows.length === 0 ? byDefault : 'otherwise' }]
}

/** The row of a second call with the effect key of a tool, and among which policies it stands. */
interface Repetition {
  readonly effect: (typeof ORDER)[number]
  readonly row: Pick<MatrixRow, 'decision' | 'by' | 'when'>
}

const REPETITIONS = {
  refuse: { effect: 'deny', decision: 'deny', what: 'again' },
  ask: { effect: 'require_approval', decision: 'require_approval', what: 'again' },
  return: { effect: 'grant', decision: 'allow', what: 'again: the earlier result' },
} as const

function repetitionOf(labels: BoundTool['labels'], sideEffectClass: BoundTool['sideEffectClass']) {
  const key = labels[EFFECT_KEY]
  if (key === undefined) return undefined
  const window = labels[EFFECT_WINDOW]
  const { effect, decision, what } = REPETITIONS[effectRepeatOf(labels, sideEffectClass)]
  return { effect, row: { decision, by: 'effect key', when: `${key}${window ? ` within ${window}` : ''} ${what}` } }
}

const decisionOf = ({ effect }: PolicyEntry): MatrixRow['decision'] =>
  effect === 'grant' ? 'allow' : effect === 'restrict' ? 'deny' : effect

function whenOf({ when, allow }: PolicyEntry): string {
  const condition = when && readCondition(when).condition
  const list = allow && `${allow.field} not in ${JSON.stringify(allow.values)}`
  const parts = [list, condition && describeCondition(condition)].filter((part) => part !== undefined)
  return parts.length === 0 ? 'always' : parts.join(' and ')
}

const byName = (a: PolicyEntry, b: PolicyEntry): number =>
  a.policy < b.policy ? -1 : a.policy > b.policy ? 1 : a.id < b.id ? -1 : 1
