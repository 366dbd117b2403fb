import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { ownMember } from '../base/json/own-member.ts'

/** Values that `${…}` can refer to. `results` has the latest result of each tool by its wire name. */
export interface ReferenceScope {
  readonly input: JsonObject
  readonly results: Readonly<Record<string, JsonValue>>
}

/**
 * Replaces references such as `${input.order}` and `${results.lookup.items[0].id}` in every string of a value. A string that is
 * exactly one reference becomes the referenced value; inside other text, strings are inserted as they are and other values as
 * JSON. `$${` stands for a literal `${`.
 * @throws RangeError with the reference that has no value
 */
export function fillReferences(value: unknown, scope: ReferenceScope): JsonValue {
  if (typeof value === 'string') return fillText(value, scope)
  if (Array.isArray(value)) return value.map((each) => fillReferences(each, scope))
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillReferences(each, scope)]))
  return (value ?? null) as JsonValue
}

const REFERENCE = /\$?\$\{([^{}]*)\}/g

function fillText(text: string, scope: ReferenceScope): JsonValue {
  if (/^\$\{[^{}]*\}$/.test(text)) return lookUp(text.slice(2, -1), scope)
  return text.replace(REFERENCE, (match, path: string) => {
    if (match.startsWith('$$')) return match.slice(1)
    const value = lookUp(path, scope)
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

function lookUp(path: string, scope: ReferenceScope): JsonValue {
  const keys = path.trim().match(/[^.[\]]+/g) ?? []
  let here: JsonValue | undefined = { input: scope.input, results: { ...scope.results } }
  for (const key of keys) {
    if (Array.isArray(here)) here = here[Number(key)]
    else here = isJsonObject(here) ? ownMember(here, key) : undefined
  }
  if (here === undefined || keys.length === 0) throw new RangeError(`\${${path}} names nothing`)
  return here
}
