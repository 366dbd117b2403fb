import { isJsonObject } from '../../../base/json/json.ts'
import { textMember, toolsOf, wireNameOf, type ToolUse } from '../../facts/agents/bindings.ts'
import { skeletonOf } from '../../text/scripts.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolWireNameShadow: LintRule = {
  severity: 'warning',
  law: 'Tools of different servers have names that a model can tell apart.',
  fix: 'Give one of them another name with `as`.',
  reason: 'A tool of one server may pose as a tool of another.',
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const first = new Map<string, { readonly use: ToolUse; readonly name: string }>()
    for (const use of toolsOf(document)) {
      const name = wireNameOf(workspace, use)
      if (name === undefined) continue
      const before = first.get(skeletonOf(name))
      if (before === undefined) first.set(skeletonOf(name), { use, name })
      else if (before.name !== name && serverOf(before.use) !== serverOf(use))
        report(
          `${use.pointer}/${textMember(use.value, 'as') === undefined ? 'ref' : 'as'}`,
          `The model will see "${name}" beside "${before.name}", which is of another server.`,
          {
            related: [
              {
                path: document.path,
                range: document.placeOf(`${before.use.pointer}/ref`).range,
                message: 'the other one',
              },
            ],
          },
        )
    }
  },
}

const serverOf = ({ value }: ToolUse): string | undefined =>
  isJsonObject(value['mcp']) ? textMember(value['mcp'], 'server') : undefined
