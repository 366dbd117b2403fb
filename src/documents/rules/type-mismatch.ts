import { gatedBindings } from '../attachments.ts'
import { toolDocument } from '../bindings.ts'
import { replacement } from '../diagnostic.ts'
import { conditionProblems, leavesIn } from '../conditions.ts'
import type { Found } from '../document.ts'
import { accepts, propertyAt } from '../property.ts'
import type { Rule } from '../rule.ts'
import { schemaAt } from '../schemas.ts'

export const typeMismatch: Rule = {
  name: 'policy/type-mismatch',
  severity: 'error',
  law: 'A condition compares a value with one of its own type.',
  fix: 'Write a value of the type of the argument.',
  source: 'Policies, section 2: exact, typed; no coercion ("900" is not 900)',
  bad: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.amount, op: gt, value: "500"}\n' },
  good: { 'policy.yaml': 'kind: Policy\nspec:\n  conditions: {field: args.amount, op: gt, value: 500}\n' },
  crossFile: true,
  kinds: ['Policy'],
  check(document, report, { workspace }) {
    for (const { code, pointer, message } of conditionProblems(document)) {
      if (code !== 'type') continue
      const place = document.placeOf(pointer)
      const written = document.source.text.slice(place.range.start.offset, place.range.end.offset)
      const number = /^["'](-?\d+(?:\.\d+)?)["']$/.exec(written)?.[1]
      report(
        place,
        message,
        number === undefined ? {} : { fix: replacement(place, Number(number), `Replace ${written} with ${number}.`) },
      )
    }
    const leaves = leavesIn(document).filter(({ leaf }) => leaf.path.root === 'args' && leaf.path.fn === undefined)
    if (leaves.length === 0) return
    const seen = new Set<Found>()
    for (const use of gatedBindings(workspace, document)) {
      const tool = toolDocument(workspace, use)
      const specs = [
        ...(tool === undefined ? [] : tool.at('spec.input_schema').map((found) => ({ holder: tool, found }))),
        ...use.agent
          .at('spec.tools.*.input_schema')
          .filter(({ pointer }) => pointer === `${use.pointer}/input_schema`)
          .map((found) => ({ holder: use.agent, found })),
      ]
      for (const { holder, found } of specs) {
        if (seen.has(found)) continue
        seen.add(found)
        const schema = schemaAt(workspace, holder, found)?.schema
        for (const { pointer, leaf } of schema === undefined ? [] : leaves) {
          const property = propertyAt(schema!.value, leaf.path.segments)
          if (property === undefined || accepts(property.types, leaf)) continue
          const place = document.placeOf(`${pointer}/value`)
          report(
            place,
            `${leaf.path.text} is ${property.types.join(' or ')}; \`${leaf.op}\` compares it with ${JSON.stringify(leaf.value)}.`,
            {
              why: 'A comparison with another type is never true; a gate would stop every call, a grant none.',
              related: [
                {
                  path: schema!.spans.source.path,
                  range: schema!.spans.placeOf(`${schema!.base}${property.pointer}/type`).range,
                  message: `${leaf.path.text} is \`type: ${property.types.join(', ')}\` here`,
                },
              ],
            },
          )
        }
      }
    }
  },
}
