import { UNDONE_BY } from '../../../policy/undo-mapping.ts'
import { declaredClass } from '../../facts/agents/bindings.ts'
import { labelOfTool } from '../../facts/effect-keys.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolUndoUndeclared: LintRule = {
  severity: 'info',
  law: 'An irreversible tool says what undoes it, or that nothing does.',
  fix: 'Add the label `svc/undone-by: namespace.name`, with `svc/undo-arguments`, or `svc/undone-by: none`.',
  reason: 'When a run fails halfway, an operator is told what of its work can be taken back.',
  kinds: ['Tool'],
  check(document, report) {
    if (declaredClass(document) !== 'irreversible_action' || labelOfTool(document, UNDONE_BY) !== undefined) return
    report('/spec/side_effect_class', `Nothing says how a call of this tool is undone, or that it cannot be.`)
  },
}
