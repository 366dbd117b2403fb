import type { JsonValue } from '../../../base/json/json.ts'
import { foldIdentity } from '../../../base/identity.ts'
import { leavesIn } from '../../facts/policies/conditions.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyNameByCodePoint: LintRule = {
  severity: 'info',
  law: 'A list of names that a policy stops is compared by `fold(…)`, not code point by code point.',
  fix: 'Compare `fold(…)` with the folded names.',
  reason:
    'Another case, full-width letters or an invisible character make another text of the same name, which the list lets pass.',
  kinds: ['Policy'],
  check(document, report) {
    const { type } = decisionOf(document)
    if (type !== 'deny' && type !== 'require_approval') return
    for (const { pointer, leaf } of leavesIn(document)) {
      const { path, op, value } = leaf
      if (path.root !== 'args' || path.fn !== undefined || !DENYING.has(op)) continue
      const last = path.segments.findLast((segment) => 'key' in segment)?.key
      const names = textsOf(value)
      if (last === undefined || !NAME.test(last) || names.length === 0) continue
      report(`${pointer}/value`, `Other spellings of ${describeNames(names)} are other texts, and pass.`, {
        fix: `Write fold(${path.text}) and ${names.map((name) => JSON.stringify(foldIdentity(name))).join(', ')}.`,
      })
    }
  },
}

/** Comparisons that are true for what the list has. */
const DENYING: ReadonlySet<string> = new Set(['eq', 'in', 'contains', 'starts_with', 'ends_with'])

/** Arguments that hold the name of a person or of a company. */
const NAME =
  /(?:^|_|[a-z])(?:[Nn]ame|[Pp]ayee|[Rr]ecipient|[Vv]endor|[Ss]upplier|[Mm]erchant|[Bb]eneficiary|[Cc]ompany|[Cc]ustomer|[Hh]older|[Oo]wner|[Pp]erson)$/

/** Words; codes, addresses and numbers are compared as they are. */
const textsOf = (value: JsonValue): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter(
    (each): each is string => typeof each === 'string' && /^[\p{L}][\p{L}\p{M} .,'’&-]{2,}$/u.test(each),
  )

const describeNames = ([first, ...others]: readonly string[]): string =>
  others.length === 0 ? `"${first}"` : `"${first}" and ${others.length} more`
