/** Finds the keywords of a JSON Schema. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { pointerTo } from '../../base/json/pointer.ts'

/** Keywords whose members are named by the author: a property may be called `pattern`. */
const NAMING = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords that hold values, not schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'required'])

export interface KeywordUse {
  readonly pointer: string
  readonly value: JsonValue
  /** The schema that contains it. */
  readonly holder: JsonObject
}

/** Every use of each keyword, at any depth. */
export function keywordsIn(schema: JsonObject | boolean): ReadonlyMap<string, readonly KeywordUse[]> {
  const uses = new Map<string, KeywordUse[]>()
  const visit = (value: JsonValue, pointer: string): void => {
    if (Array.isArray(value)) value.forEach((each, at) => visit(each, pointerTo(pointer, at)))
    if (!isJsonObject(value)) return
    for (const [key, each] of Object.entries(value)) {
      const use = { pointer: pointerTo(pointer, key), value: each, holder: value }
      const before = uses.get(key)
      if (before === undefined) uses.set(key, [use])
      else before.push(use)
      if (VALUES.has(key)) continue
      if (NAMING.has(key) && isJsonObject(each))
        for (const [name, named] of Object.entries(each)) visit(named, pointerTo(use.pointer, name))
      else visit(each, use.pointer)
    }
  }
  visit(schema, '')
  return uses
}
