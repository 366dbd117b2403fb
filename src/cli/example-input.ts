import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'

/** The pairs of `svc run` for the required properties of an input contract, each with a leading space. */
export function exampleInput(contract: JsonObject | undefined): string {
  const { required, properties } = contract ?? {}
  if (!Array.isArray(required) || !isJsonObject(properties)) return ''
  return required
    .filter((name) => typeof name === 'string')
    .map((name) => pairOf(name, properties[name]))
    .join('')
}

function pairOf(name: string, schema: JsonValue | undefined): string {
  const known = isJsonObject(schema) ? schema : {}
  const { examples, enum: values, type } = known
  const given =
    known['default'] ??
    (Array.isArray(examples) ? examples[0] : undefined) ??
    (Array.isArray(values) ? values[0] : undefined)
  if (typeof given === 'string') return ` ${name}=${/\s/.test(given) ? JSON.stringify(given) : given}`
  if (given !== undefined)
    return ` ${name}:=${/[\s{["]/.test(JSON.stringify(given)) ? `'${JSON.stringify(given)}'` : JSON.stringify(given)}`
  if (type === 'number' || type === 'integer') return ` ${name}:=1`
  if (type === 'boolean') return ` ${name}:=true`
  return ` ${name}=…`
}
