import { fieldsIn, leavesIn } from '../../facts/policies/conditions.ts'
import { replaceScalarFix } from '../../text/diagnostic.ts'
import { domainsOf } from '../../facts/policies/known-calls.ts'
import { firstMissingStep, firstImpossibleStep, pointerAlong } from '../../text/property.ts'
import type { LintRule } from '../../facts/rule.ts'
import { didYouMean, nearestCandidate } from '../../text/suggest.ts'
import { pathText } from '../../../policy/condition/path.ts'

export const policyFieldNotInSchema: LintRule = {
  severity: 'error',
  law: 'A condition reads only arguments that the tool takes.',
  fix: 'Write the argument as the input schema does.',
  reason: 'The condition would be unknown for every call: a gate would stop them all, a grant allow none.',
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    const known = domainsOf(workspace, document)
    if (known === undefined || known[0] === undefined) return
    const { schema: described } = known[0]
    for (const { pointer, leaf } of leavesIn(document)) {
      const { root, segments, fn } = leaf.path
      const missteps =
        root === 'args' ? known.map(({ schema }) => firstImpossibleStep(schema.value, segments)) : [undefined]
      const [first] = missteps
      if (first === undefined || missteps.includes(undefined)) continue
      const place = document.placeOf(`${pointer}/field`)
      const text = pathText(segments.slice(0, first.at))
      const isList = first.types.includes('array')
      const many = `${text}[*]${pathText(segments.slice(first.at)).slice('args'.length)}`
      const isSpread = segments.slice(first.at, first.at + 1).some((segment) => 'each' in segment)
      const plain = isSpread ? 'Leave out `each` and `[*]`: they are for lists.' : `Write \`${text}\`.`
      report(place, `${text} is ${first.types.join(' or ')}: the path leads nowhere.`, {
        why: 'The comparison is unknown for every call: a gate stops them all, a grant none.',
        fix: isList
          ? `Write \`${fn === undefined ? many : `${fn}(${many})`}\` with \`each: any\` or \`each: all\`.`
          : plain,
        related: [
          {
            path: described.placeOf('').path,
            range: described.placeOf(pointerAlong(segments.slice(0, first.at))).range,
            message: 'what is there',
          },
        ],
      })
    }
    for (const { pointer, path } of fieldsIn(document)) {
      if (path.root !== 'args' && path.root !== 'source') continue
      const misses = known.map(({ schema }) => firstMissingStep(schema.value, path.segments))
      const [miss] = misses
      // A policy for several tools may read an argument that one of them lacks.
      if (miss === undefined || misses.includes(undefined)) continue
      const near = nearestCandidate(miss.name, miss.known)
      const place = document.placeOf(pointer)
      report(place, `No tool that this policy gates has an argument "${miss.name}".${didYouMean(near)}`, {
        why: 'The comparison is unknown for every call: a gate stops them all, a grant none.',
        meant: near,
        subject: [miss.name],
        ...(near !== undefined &&
          path.fn === undefined && { fix: replaceScalarFix(place, path.text.replace(miss.name, near)) }),
        related: [
          {
            path: described.placeOf('').path,
            range: described.placeOf(miss.pointer).range,
            message: 'the arguments',
          },
        ],
      })
    }
  },
}
