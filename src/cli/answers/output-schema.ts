/** The JSON Schema that `svc schema output:COMMAND` prints: the one in the table of commands, complete in itself. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import type { CommandSpec } from '../shell/command.ts'

/** Schemas of the HTTP interface, by name. */
type ApiSchemas = Readonly<Record<string, JsonObject>>

/**
 * Undefined for a command that prints text in every mode.
 * @param api the OpenAPI document
 */
export function outputSchema({ path, summary, json, answer }: CommandSpec, api: JsonObject): JsonObject | undefined {
  if (json === undefined) return undefined
  const { schemas } = fromJson<{ readonly schemas: ApiSchemas }>(api['components'], 'schemas')
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `svc ${path} --json`,
    description: `${summary}: ${json}`,
    ...withDefinitions(answer?.() ?? {}, schemas),
  }
}

/** Copies the schemas of the HTTP interface that a schema refers to into definitions of its own. */
function withDefinitions(schema: JsonObject, schemas: ApiSchemas): JsonObject {
  const definitions: Record<string, JsonObject> = {}
  const localize = (from: JsonObject): JsonObject => {
    const text = JSON.stringify(from).replaceAll('#/components/schemas/', '#/$defs/')
    for (const name of text.match(/(?<="#\/\$defs\/)[^"]+(?=")/g) ?? [])
      if (!Object.hasOwn(definitions, name)) {
        definitions[name] = {} // before its own references are followed: they may lead back here
        definitions[name] = localize(schemas[name] ?? {})
      }
    return JSON.parse(text, withoutExtensions) as JsonObject
  }
  const own = localize(schema)
  return Object.keys(definitions).length === 0 ? own : { ...own, $defs: definitions }
}

/** Strict validators refuse unknown keywords; the `const` of each variant says what a discriminator would. The values of an extensible enum become examples. */
function withoutExtensions(_: string, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  // `{}` accepts any value; only client generators need the shape of these objects.
  const isAny = 'patternProperties' in value && !('type' in value)
  const own = Object.entries(value).filter(
    ([key]) => !key.startsWith('x-') && key !== 'discriminator' && !(isAny && key === 'patternProperties'),
  )
  const { 'x-extensible-enum': examples } = value
  return { ...Object.fromEntries(own), ...(examples !== undefined && { examples }) }
}
