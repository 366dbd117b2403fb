import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { subAgentEdges } from '../../facts/agents/closure.ts'
import { ownInput } from '../../facts/agents/inputs.ts'
import { INPUT_SCHEMA, schemasOf } from '../../schemas/schemas.ts'
import { nearestCandidate } from '../../text/suggest.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentInputMismatch: LintRule = {
  severity: 'warning',
  law: 'The input that a parent sends matches the input contract of the sub-agent.',
  fix: 'Use the same property names in both schemas.',
  reason: 'A call with an input that does not match is rejected.',
  source: 'Authoring format, "Sub-agent binding": `input_schema`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const edge of subAgentEdges(workspace, document)) {
      const own = ownInput(workspace, edge)
      const contract = schemasOf(workspace, edge.child).find(({ at }) => at.key === INPUT_SCHEMA)?.schema?.value
      if (!isJsonObject(own?.value) || !isJsonObject(contract)) continue
      const sent = namesOf(own.value)
      const required = contract['required']
      for (const name of Array.isArray(required) ? required : []) {
        if (typeof name !== 'string' || sent.includes(name) || own.value['additionalProperties'] !== false) continue
        const near = nearestCandidate(name, sent)
        report(
          own.spans.placeOf(`${own.base}/properties`),
          `${edge.child.identity?.id ?? edge.child.path} requires "${name}", which this binding never sends.${near === undefined ? '' : ` It sends "${near}".`}`,
        )
      }
    }
  },
}

const namesOf = ({ properties }: JsonObject): string[] => (isJsonObject(properties) ? Object.keys(properties) : [])
