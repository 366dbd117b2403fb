import { comparesAgain, groupsIn } from '../../facts/policies/conditions.ts'
import { isSatisfiable } from '../../../policy/prove/conditions.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyContradiction: LintRule = {
  severity: 'error',
  law: 'Conditions under `all` can be true together.',
  fix: 'Write `any`, or correct a bound.',
  reason: 'A policy whose condition is never true decides about no call.',
  kinds: ['Policy'],
  check(document, report) {
    if (!comparesAgain(document)) return
    for (const { form, pointer, members, condition } of groupsIn(document)) {
      if (form !== 'all' || isSatisfiable(condition)) continue
      if (members.some((member) => !isSatisfiable(member.condition))) continue
      const [first, second] = pairOf(members) ?? []
      const place = document.placeOf(second?.pointer ?? pointer)
      report(place, 'These conditions never hold together.', {
        ...(first !== undefined && {
          related: [{ path: document.path, range: document.placeOf(first.pointer).range, message: 'excludes it' }],
        }),
      })
    }
  },
}

type GroupMember = ReturnType<typeof groupsIn>[number]['members'][number]

/** Two members that exclude each other. */
function pairOf(members: readonly GroupMember[]): readonly [GroupMember, GroupMember] | undefined {
  for (const [index, second] of members.entries())
    for (const first of members.slice(0, index))
      if (!isSatisfiable({ all: [first.condition, second.condition] })) return [first, second]
  return undefined
}
