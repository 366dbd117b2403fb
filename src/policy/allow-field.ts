/** The argument that an allow list checks. Source: docs/design/policies.md#the-decision */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { resolveReference } from '../base/json/resolve-pointer.ts'
import { readArgumentPath } from './condition/path.ts'
import type { JsonSchema } from '../spec/snapshot.ts'

/** Tried in this order where several properties fit. */
const PREFERRED_NAMES = ['queue', 'target', 'value', 'name', 'id', 'currency']

/** Canonical path of the argument that `svc/allow_field` names; undefined where the text is not an argument path. */
export const namedField = (named: JsonValue): string | undefined =>
  typeof named === 'string' ? readArgumentPath(named)?.text : undefined

/** The one property of an input schema that a list can check: a string or an enumeration. Undefined = ambiguous, or none. */
export function inferredField(schema: JsonSchema | undefined): string | undefined {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return undefined
  const names = Object.entries(schema['properties']).flatMap(([name, property]) =>
    isTextual(deref(schema, property)) ? [name] : [],
  )
  const name = names.length === 1 ? names[0] : PREFERRED_NAMES.find((usual) => names.includes(usual))
  return name === undefined ? undefined : readArgumentPath(`args[${JSON.stringify(name)}]`)?.text
}

function isTextual(property: JsonValue | undefined): boolean {
  if (!isJsonObject(property)) return false
  const { type } = property
  return type === 'string' || (Array.isArray(type) && type.includes('string')) || Array.isArray(property['enum'])
}

/** Follows one reference into the same schema. */
function deref(schema: JsonObject, property: JsonValue): JsonValue | undefined {
  const ref = isJsonObject(property) ? property['$ref'] : undefined
  return typeof ref === 'string' && ref.startsWith('#/') ? resolveReference(schema, ref) : property
}
