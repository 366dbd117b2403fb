/**
 * Every call of an agent with the decisions of its policies: `svc compile --matrix`.
 * Source: docs/design/bundles-and-authority.md#comparisons
 */
import { compareText } from '../base/values/compare-text.ts'
import { conditionOfEntry } from '../policy/condition/condition.ts'
import { describeCondition } from '../policy/condition/describe.ts'
import { EFFECT_KEY, EFFECT_WINDOW, effectRepeatOf } from '../policy/condition/effect-key.ts'
import type { AuthorityRow } from '../operations/versions.ts'
import { entriesForCall, type PolicyEntry } from '../spec/policy-set.ts'
import type { AgentSnapshot, BoundTool } from '../spec/snapshot.ts'

/** From strict to loose, the order in which they decide. */
const ORDER = ['deny', 'restrict', 'escalate', 'require_approval', 'grant'] as const

/** @param ancestors of the agent; their gates apply to its calls too */
export function authorityMatrix(
  snapshot: AgentSnapshot,
  ancestors: readonly AgentSnapshot[] = [],
): readonly AuthorityRow[] {
  const above = ancestors.map(({ policies }) => policies)
  const entriesOf = (call: { readonly wire: string; readonly id: string }) =>
    entriesForCall(snapshot.policies, above, call).map(({ entry }) => entry)
  return [
    ...snapshot.tools.flatMap((tool) =>
      rowsOf(
        { tool: tool.id, wire: tool.wire, kind: 'tool' },
        {
          entries: entriesOf(tool),
          byDefault: tool.sideEffectClass ?? 'undeclared class',
          isIrreversible: tool.sideEffectClass === 'irreversible_action',
          repetition: repetitionOf(tool),
        },
      ),
    ),
    ...snapshot.agents.flatMap((bound) =>
      rowsOf(
        { tool: bound.id, wire: bound.wire, kind: 'agent' },
        { entries: entriesOf(bound), byDefault: 'delegation' },
      ),
    ),
  ]
}

interface CallRules {
  readonly entries: readonly PolicyEntry[]
  /** `when` of a call to which no policy applies. */
  readonly byDefault: string
  readonly isIrreversible?: boolean
  readonly repetition?: Repetition | undefined
}

function rowsOf(
  call: Pick<AuthorityRow, 'tool' | 'wire' | 'kind'>,
  { entries, byDefault, isIrreversible = false, repetition }: CallRules,
): AuthorityRow[] {
  const rows: AuthorityRow[] = []
  for (const effect of ORDER) {
    if (repetition?.effect === effect) rows.push({ ...call, ...repetition.row })
    for (const entry of [...entries].filter((each) => each.effect === effect).sort(byName)) {
      rows.push({
        ...call,
        decision: decisionOfEffect(entry.effect),
        by: `${entry.policy}@${entry.version}`,
        when: whenOf(entry),
      })
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
  readonly row: Pick<AuthorityRow, 'decision' | 'by' | 'when'>
}

const REPETITIONS = {
  refuse: { effect: 'deny', decision: 'deny', what: 'again' },
  ask: { effect: 'require_approval', decision: 'require_approval', what: 'again' },
  return: { effect: 'grant', decision: 'allow', what: 'again: the earlier result' },
} as const

function repetitionOf({ labels, sideEffectClass }: BoundTool): Repetition | undefined {
  const key = labels[EFFECT_KEY]
  if (key === undefined) return undefined
  const window = labels[EFFECT_WINDOW]
  const { effect, decision, what } = REPETITIONS[effectRepeatOf(labels, sideEffectClass)]
  return { effect, row: { decision, by: 'effect key', when: `${key}${window ? ` within ${window}` : ''} ${what}` } }
}

/** What a policy decides where it fires. */
export function decisionOfEffect(effect: PolicyEntry['effect']): AuthorityRow['decision'] {
  if (effect === 'grant') return 'allow'
  return effect === 'restrict' ? 'deny' : effect
}

function whenOf(entry: PolicyEntry): string {
  const { allow } = entry
  const condition = conditionOfEntry(entry)
  const list = allow && `${allow.field} not in ${JSON.stringify(allow.values)}`
  const parts = [list, condition && describeCondition(condition)].filter((part) => part !== undefined)
  return parts.length === 0 ? 'always' : parts.join(' and ')
}

const byName = (a: PolicyEntry, b: PolicyEntry): number => compareText(a.policy, b.policy) || compareText(a.id, b.id)
