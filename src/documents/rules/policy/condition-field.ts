import type { JsonValue } from '../../../base/json/json.ts'
import { CALL_FIELDS } from '../../../policy/condition/fields.ts'
import { PATH_FUNCTIONS } from '../../../policy/condition/path.ts'
import { conditionOf, conditionProblems, fieldsIn, leavesIn } from '../../facts/policies/conditions.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { segmentsOf } from '../../../base/json/pointer.ts'
import type { LintRule } from '../../facts/rule.ts'
import { nearestCandidate } from '../../text/suggest.ts'
import { ownMember } from '../../../base/json/own-member.ts'

export const policyConditionField: LintRule = {
  severity: 'error',
  law: 'A condition reads fields that a call has. A bare name is an argument; write `args.name`.',
  fix: 'Write a field that calls have; arguments begin with `args.`.',
  reason: 'The condition would be unknown for every call: a gate would stop them all, a grant allow none.',
  kinds: ['Policy'],
  check(document, report) {
    for (const { code, pointer, message } of conditionProblems(document))
      if (code === 'field') {
        const place = document.placeOf(pointer)
        const near = meant(document.at(segmentsOf(pointer).join('.'))[0]?.value)
        if (near === undefined) report(place, message)
        else report(place, `${message} Did you mean "${near}"?`, { fix: replaceScalarFix(place, near) })
      }
    if (conditionOf(document) !== undefined && !leavesIn(document).some(({ leaf }) => leaf.path.bare)) return
    for (const { pointer, path } of fieldsIn(document)) {
      if (path.bare !== true) continue
      const place = document.placeOf(pointer)
      report(place, `A bare name is an argument: ${path.text}.`, {
        severity: 'info',
        fix: replaceScalarFix(place, path.text),
      })
    }
  },
}

/** The field that was probably meant: another one of the same root, or the same one in another function. */
function meant(written: JsonValue | undefined): string | undefined {
  const [, fn, root = '', name = '', rest = ''] =
    /^(?:([a-z_]+)\()?([a-z]+)\.(\w+)([^]*)$/.exec(typeof written === 'string' ? written : '') ?? []
  const fields = Object.keys(ownMember(CALL_FIELDS, root) ?? {})
  const field = fields.includes(name) ? name : nearestCandidate(name, fields)
  const known: readonly string[] = PATH_FUNCTIONS
  const call = fn === undefined || known.includes(fn) ? fn : nearestCandidate(fn, known)
  if ((root !== 'args' && field === undefined) || (fn !== undefined && call === undefined)) return undefined
  const path = `${call === undefined ? '' : `${call}(`}${root}.${field ?? name}${rest}`
  return path === written ? undefined : path
}
