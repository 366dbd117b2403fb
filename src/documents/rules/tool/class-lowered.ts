import {
  readSideEffectClass,
  declaredClass,
  sideEffectRank,
  toolDocument,
  toolsOf,
} from '../../facts/agents/bindings.ts'
import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolClassLowered: LintRule = {
  severity: 'error',
  law: 'A binding does not declare a tool safer than its Tool document does.',
  fix: 'Remove the class from the binding.',
  reason: 'The stricter of the two applies.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const tool = toolDocument(workspace, use)
      const own = readSideEffectClass(use.value['side_effect_class'])
      const declared = declaredClass(tool)
      if (
        tool === undefined ||
        own === undefined ||
        declared === undefined ||
        sideEffectRank(own) >= sideEffectRank(declared)
      )
        continue
      report(`${use.pointer}/side_effect_class`, `${tool.identity.id} is ${declared}; the binding calls it ${own}.`, {
        fix: {
          description: 'Remove it from the binding.',
          edits: removalEdits(document, `${use.pointer}/side_effect_class`),
          unsafe: true,
        },
        related: [
          { path: tool.path, range: tool.placeOf('/spec/side_effect_class').range, message: `${declared} here` },
        ],
      })
    }
  },
}
