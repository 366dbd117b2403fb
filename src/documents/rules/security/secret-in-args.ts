import { isJsonObject } from '../../../base/json/json.ts'
import { pointerTo } from '../../../base/json/pointer.ts'
import { schemaRule } from '../../facts/schema-rule.ts'
import type { LintRule } from '../../facts/rule.ts'

export const securitySecretInArgs: LintRule = {
  severity: 'warning',
  law: 'No tool takes a credential as an argument: it would pass through the model.',
  fix: 'Let the server that runs the tool hold the secret.',
  crossFile: true,
  // The schemas of an agent describe input from people, not from the model.
  kinds: ['Tool'],
  check: schemaRule(['properties'], (schema, report) => {
    for (const { pointer, value: properties } of schema.uses('properties'))
      for (const [name, property] of isJsonObject(properties) ? Object.entries(properties) : []) {
        if (!SECRET.test(name)) continue
        const types = isJsonObject(property) ? [property['type']].flat() : []
        if (types.includes('string') || types[0] === undefined)
          report(pointerTo(pointer, name), `The model would have to see the value of "${name}".`, {}, true)
      }
  }),
}

const SECRET =
  /^(?:.*_)?(?:password|passwd|passphrase|api_?key|secret|secret_key|access_token|auth_token|private_key|token|pin_code|cvv)$/i
