import { placeholdersOf } from '../../../policy/condition/argument-template.ts'
import { EFFECT_KEY } from '../../../policy/condition/effect-key.ts'
import { effectTemplateOf, keyArguments, labelPointer } from '../../facts/effect-keys.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolEffectKeyConstant: LintRule = {
  severity: 'error',
  law: 'An effect key names an argument that varies.',
  fix: 'Add the argument that tells one effect from another: `refund:{args.order}`.',
  reason: 'A key that is the same for every call lets the tool act once, for ever.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    const template = effectTemplateOf(document)
    if (template === undefined) return
    const named = keyArguments(workspace, document, template)
    const isWhole = named.length === placeholdersOf(template).length
    if (isWhole && named.every(({ isFixed }) => isFixed))
      report(labelPointer(EFFECT_KEY), 'No argument varies this key: every call after the first is a repetition.')
  },
}
