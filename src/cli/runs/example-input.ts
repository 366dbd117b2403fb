import { EXTERNAL_PROVIDER } from '../../spec/external.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'

/** The pairs of `svc run` for the required properties of an input contract, each with a leading space. */
export const exampleInput = (contract: JsonObject | undefined): string =>
  required(contract)
    .map(([name, schema]) => pairOf(name, schema))
    .join('')

/** The command that starts an agent, or the one for its client where its model is `external`. */
export const startCommandOf = (
  agent: string,
  model: string | undefined,
  inputContract: JsonValue | undefined,
): string =>
  model?.startsWith(`${EXTERNAL_PROVIDER}/`)
    ? `svc mcp --tools ${agent}`
    : `svc run ${agent}${exampleInput(isJsonObject(inputContract) ? inputContract : undefined)}`

/** An example input, with a value for each required property. */
export const exampleObject = (contract: JsonObject | undefined): JsonObject =>
  Object.fromEntries(
    required(contract).map(([name, schema]) => {
      const { type } = schema
      const made = typeof type === 'string' ? EXAMPLES[type] : undefined
      return [name, valueOf(schema) ?? made ?? '…']
    }),
  )

const EXAMPLES: Readonly<Record<string, JsonValue>> = { number: 1, integer: 1, boolean: true }

function required(contract: JsonObject | undefined): readonly (readonly [string, JsonObject])[] {
  const { required: names, properties } = contract ?? {}
  if (!Array.isArray(names) || !isJsonObject(properties)) return []
  return names
    .filter((name) => typeof name === 'string')
    .map((name) => [name, isJsonObject(properties[name]) ? properties[name] : {}])
}

function valueOf(schema: JsonObject): JsonValue | undefined {
  const { examples, enum: values } = schema
  return (
    schema['default'] ??
    (Array.isArray(examples) ? examples[0] : undefined) ??
    (Array.isArray(values) ? values[0] : undefined)
  )
}

function pairOf(name: string, schema: JsonObject): string {
  const { type } = schema
  const given = valueOf(schema)
  const key = quoteShell(name)
  if (typeof given === 'string') return ` ${key}=${quoteShell(given)}`
  if (given !== undefined) return ` ${key}:=${quoteShell(JSON.stringify(given))}`
  if (type === 'number' || type === 'integer') return ` ${key}:=1`
  if (type === 'boolean') return ` ${key}:=true`
  return ` ${key}=…`
}

/** One word of a POSIX shell, in single quotes where a character has a meaning there. */
export const quoteShell = (text: string): string =>
  /^[\w.,:/@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
