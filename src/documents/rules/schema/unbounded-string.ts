import type { JsonObject } from '../../../base/json/json.ts'
import { declaredClass } from '../../facts/agents/bindings.ts'
import { toolInput } from '../../facts/agents/inputs.ts'
import type { LintRule } from '../../facts/rule.ts'

export const schemaUnboundedString: LintRule = {
  severity: 'warning',
  law: 'A string argument of an irreversible action has a maximum length.',
  fix: 'Add `maxLength`, `pattern`, `format` or `enum`.',
  reason: 'A person cannot review an argument of any length before approving it.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    const sideEffect = declaredClass(document)
    const severity = { irreversible_action: 'warning', non_idempotent_write: 'info' } as const
    if (sideEffect !== 'irreversible_action' && sideEffect !== 'non_idempotent_write') return
    const input = toolInput(workspace, document)
    if (input === undefined) return
    for (const { value, holder, pointer } of input.uses('type')) {
      if (value !== 'string' || holder === input.value || isBounded(holder)) continue
      report(input.placeOf(pointer), `"${pointer.split('/').at(-2)}" may be a string of any length.`, {
        severity: severity[sideEffect],
      })
    }
  },
}

const BOUNDS = ['maxLength', 'pattern', 'format', 'enum', 'const', '$ref']
const isBounded = (schema: JsonObject): boolean => BOUNDS.some((keyword) => Object.hasOwn(schema, keyword))
