import { gatedBindings } from '../attachments.ts'
import { toolDocument } from '../bindings.ts'
import { replacement } from '../diagnostic.ts'
import { conditionProblems, leavesIn } from '../conditions.ts'
import type { Document } from '../document.ts'
import { ownInput, toolInput } from '../inputs.ts'
import { mismatchOf } from '../property.ts'
import type { Rule } from '../rule.ts'
import type { SchemaText } from '../schemas.ts'
import type { Workspace } from '../workspace.ts'

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
    for (const { spans, base, value } of inputsOf(workspace, document))
      for (const { pointer, leaf } of leavesIn(document)) {
        if (leaf.path.root !== 'args' || leaf.path.fn !== undefined) continue
        const property = mismatchOf(value, leaf)
        if (property === undefined) continue
        const place = document.placeOf(`${pointer}/value`)
        report(
          place,
          `${leaf.path.text} is ${property.types.join(' or ')}; \`${leaf.op}\` compares it with ${JSON.stringify(leaf.value)}.`,
          {
            why: 'A comparison with another type is never true; a gate would stop every call, a grant none.',
            related: [
              {
                path: spans.source.path,
                range: spans.placeOf(`${base}${property.pointer}/type`).range,
                message: `${leaf.path.text} is \`type: ${property.types.join(', ')}\` here`,
              },
            ],
          },
        )
      }
  },
}

/** The input schemas of what a policy gates: of each tool, once, and of the bindings that bring their own. */
function inputsOf(workspace: Workspace, policy: Document): ReadonlySet<SchemaText> {
  const inputs = new Set<SchemaText>()
  for (const use of gatedBindings(workspace, policy)) {
    const tool = toolDocument(workspace, use)
    const declared = tool && toolInput(workspace, tool)
    const own = ownInput(workspace, use)
    if (declared !== undefined) inputs.add(declared)
    if (own !== undefined) inputs.add(own)
  }
  return inputs
}
