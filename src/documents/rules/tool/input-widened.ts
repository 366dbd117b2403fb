import { toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { ownInput, toolInput } from '../../facts/agents/inputs.ts'
import { schemaWidenings } from '../../schemas/schema-fit.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolInputWidened: LintRule = {
  severity: 'error',
  law: 'The input schema of a binding accepts nothing that the Tool document rejects.',
  fix: 'Accept in the binding only what the Tool document accepts.',
  source: 'Authoring format, "Tool binding": `input_schema`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const tool = toolDocument(workspace, use)
      const own = ownInput(workspace, use)
      const contract = tool && toolInput(workspace, tool)
      if (tool === undefined || own === undefined || contract === undefined) continue
      for (const { pointer, message, against } of schemaWidenings(own.value, contract.value))
        report(own.placeOf(pointer), `${message} ${tool.identity.id} rejects that.`, {
          related: [
            {
              path: contract.spans.source.path,
              range: contract.spans.placeOf(contract.base + against).range,
              message: 'the contract',
            },
          ],
        })
    }
  },
}
