import { gateEffectOf } from '../../facts/policies/authority.ts'
import { conditionOf, leavesIn } from '../../facts/policies/conditions.ts'
import { knownCallsOf } from '../../facts/policies/known-calls.ts'
import { leavesOf, type Condition, type ConditionLeaf } from '../../../policy/condition/condition.ts'
import { isSpread } from '../../../policy/condition/path.ts'
import { isDeclaredOptional } from '../../text/property.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyOptionalField: LintRule = {
  severity: 'warning',
  law: 'A gate that reads an optional argument sets `if_missing` or checks `exists`; otherwise it applies when the argument is absent.',
  fix: 'Add `if_missing: false`, or a condition with `exists`.',
  reason: 'A condition on an absent argument is unknown, and a gate applies when its condition is unknown.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    if (gateEffectOf(document) !== 'gate') return
    const condition = conditionOf(document)
    if (condition === undefined) return
    const calls = knownCallsOf(workspace, document)
    for (const { pointer, leaf } of leavesIn(document)) {
      if (leaf.path.root !== 'args' || leaf.ifMissing !== undefined || ABSENCE.has(leaf.op)) continue
      const found = calls.find(({ schema }) => isDeclaredOptional(schema.value, leaf.path.segments))
      if (found === undefined || isSpread(leaf.path) || isGuarded(condition, leaf)) continue
      const { spans, base } = found.schema
      report(`${pointer}/field`, `${leaf.path.text} is optional; this gate applies to calls without it.`, {
        subject: [leaf.path.text],
        related: [
          {
            path: spans.source.path,
            range: spans.spanOf(`${base}/required`) ?? spans.placeOf(base).range,
            message: 'what is required',
          },
        ],
      })
    }
  },
}

const isGuarded = (condition: Condition, { path }: ConditionLeaf): boolean =>
  leavesOf(condition).some((each) => each.op === 'exists' && each.path.text === path.text)

/** Operators that are defined for absent arguments. */
const ABSENCE: ReadonlySet<string> = new Set(['exists', 'type'])
