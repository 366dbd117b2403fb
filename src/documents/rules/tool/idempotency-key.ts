import { isJsonObject } from '../../../base/json/json.ts'
import { declaredClass } from '../../facts/agents/bindings.ts'
import { toolInput } from '../../facts/agents/inputs.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolIdempotencyKey: LintRule = {
  severity: 'info',
  law: 'An idempotent write has an argument that identifies repeated calls.',
  fix: 'Add an argument such as `request_id`, or declare the tool `non_idempotent_write`.',
  source: 'Authoring format, "Side-effect class values": `idempotent_write`',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    if (declaredClass(document) !== 'idempotent_write') return
    const input = toolInput(workspace, document)?.value
    const properties = isJsonObject(input) ? input['properties'] : undefined
    if (!isJsonObject(properties) || Object.keys(properties).some((name) => KEY.test(name))) return
    report('/spec/side_effect_class', 'No argument identifies repeated calls.')
  },
}

const KEY =
  /(?:^|_)(?:id|key|ref|reference|number|no|uuid|token|slug|name|path|url|email|order|code)$|(?:Id|Key)$|idempot/i
