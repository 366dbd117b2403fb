import { isJsonObject } from '../../../base/json/json.ts'
import { EFFECT_KEY } from '../../../policy/condition/effect-key.ts'
import { declaredClass } from '../../facts/agents/bindings.ts'
import { wordsOf } from '../../facts/agents/capabilities.ts'
import { toolInput } from '../../facts/agents/inputs.ts'
import { labelOfTool } from '../../facts/effect-keys.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolEffectKeyMissing: LintRule = {
  severity: 'info',
  law: 'An irreversible tool that moves money or the like has an effect key.',
  fix: 'Add the label `svc/effect-key: "refund:{args.order}"`, with the argument that identifies what is done.',
  reason: 'Without one, two runs that are asked for the same may both do it.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    if (declaredClass(document) !== 'irreversible_action' || labelOfTool(document, EFFECT_KEY) !== undefined) return
    const input = toolInput(workspace, document)?.value
    const properties = isJsonObject(input) ? input['properties'] : undefined
    const name = Object.keys(isJsonObject(properties) ? properties : {}).find((each) =>
      wordsOf(each).some((word) => MONEY.has(word)),
    )
    if (name !== undefined)
      report(
        '/spec/side_effect_class',
        `Two runs may both do this: ${name} says that it moves money, and it has no effect key.`,
      )
  },
}

const MONEY: ReadonlySet<string> = new Set(
  'amount amounts price total sum currency iban bic fee payment payout salary balance cents'.split(' '),
)
