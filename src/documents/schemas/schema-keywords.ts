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
  visit(schema, undefined, uses)
  return uses
}

function visit(value: JsonValue, above: SchemaStep | undefined, uses: Map<string, KeywordUse[]>): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    // A schema is a mapping, so the parent of a list is its keyword.
    for (let at = 0; at < value.length; at++)
      visit(value[at]!, new SchemaStep(above, at, value[at]!, above!.holder), uses)
    return
  }
  for (const key in value) {
    const each = value[key]!
    const use = new SchemaStep(above, key, each, value)
    const before = uses.get(key)
    if (before === undefined) uses.set(key, [use])
    else before.push(use)
    if (typeof each !== 'object' || each === null || VALUES.has(key)) continue
    if (NAMING.has(key) && isJsonObject(each))
      for (const name in each) visit(each[name]!, new SchemaStep(use, name, each[name]!, each), uses)
    else visit(each, use, uses)
  }
}

/** A path into a schema, formatted only for a finding. */
class SchemaStep implements KeywordUse {
  readonly above: SchemaStep | undefined
  readonly key: string | number
  readonly value: JsonValue
  readonly holder: JsonObject

  constructor(above: SchemaStep | undefined, key: string | number, value: JsonValue, holder: JsonObject) {
    this.above = above
    this.key = key
    this.value = value
    this.holder = holder
  }

  get pointer(): string {
    return pointerTo(this.above?.pointer ?? '', this.key)
  }
}
