import { isJsonObject } from '../../../base/json/json.ts'
import { declaredClass } from '../../facts/agents/bindings.ts'
import { toolInput } from '../../facts/agents/inputs.ts'
import { insertionEdits } from '../../edit/insertion.ts'
import type { LintRule } from '../../facts/rule.ts'

export const schemaOpenObject: LintRule = {
  severity: 'warning',
  law: 'A tool that writes accepts no arguments beyond those it declares.',
  fix: 'Add `additionalProperties: false`.',
  reason: 'Nobody has reviewed an argument that the schema does not declare.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    const sideEffect = declaredClass(document)
    if (sideEffect === undefined || sideEffect === 'read_only') return
    const input = toolInput(workspace, document)
    if (!isJsonObject(input?.value) || input.value['type'] !== 'object') return
    if (CLOSING.some((keyword) => Object.hasOwn(input.value as object, keyword))) return
    report(
      input.spans.placeOf(`${input.base}/type`),
      'This tool writes, but accepts arguments that it does not declare.',
      {
        why: 'Policies cannot read what has no name, and a model may add to it.',
        fix: {
          description: 'Add `additionalProperties: false`.',
          edits: insertionEdits(input.spans, `${input.base}/additionalProperties`, 'false', 'properties'),
          unsafe: true,
        },
      },
    )
  },
}

const CLOSING = ['additionalProperties', 'unevaluatedProperties', '$ref', 'allOf', 'anyOf', 'oneOf']
