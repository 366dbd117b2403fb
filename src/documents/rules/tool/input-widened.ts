import { toolDocument, toolsOf } from '../../facts/bindings.ts'
import { ownInput, toolInput } from '../../facts/inputs.ts'
import { schemaWidenings } from '../../schemas/schema-fit.ts'
import type { LintRule } from '../../facts/rule.ts'

export const inputWidened: LintRule = {
  name: 'tool/input-widened',
  severity: 'error',
  law: 'The input schema of a binding accepts nothing that the Tool document rejects.',
  fix: 'Repeat what the Tool document says.',
  source: 'Authoring format, "Tool binding": `input_schema`; policies, section 1',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, input_schema: {inline: {type: object, properties: {currency: {type: string}}}}}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\nspec:\n  input_schema: {inline: {type: object, properties: {currency: {enum: [USD]}}}}\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, input_schema: {inline: {type: object, properties: {currency: {enum: [USD]}}}}}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml':
      'kind: Tool\nspec:\n  input_schema: {inline: {type: object, properties: {currency: {enum: [USD, EUR]}}}}\n',
  },
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const tool = toolDocument(workspace, use)
      const own = ownInput(workspace, use)
      const contract = tool && toolInput(workspace, tool)
      if (own === undefined || contract === undefined) continue
      for (const { pointer, message, against } of schemaWidenings(own.value, contract.value))
        report(own.spans.placeOf(own.base + pointer), `${message} ${tool!.identity!.id} rejects that.`, {
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
