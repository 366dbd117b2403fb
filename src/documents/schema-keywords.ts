/** Where the keywords of a JSON Schema stand. */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { pointerTo } from './pointer.ts'

/** Keywords whose members are named by the author: a property may be called `pattern`. */
const NAMING = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords that hold values, not schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples', 'required'])

export interface KeywordUse {
  readonly pointer: string
  readonly value: JsonValue
  /** The schema in which it stands. */
  readonly holder: JsonObject
}

/** Every use of each keyword, at whatever depth. */
export function keywordsIn(schema: JsonObject | boolean): ReadonlyMap<string, readonly KeywordUse[]> {
  const uses = new Map<string, KeywordUse[]>()
  const visit = (value: JsonValue, above: Step | undefined): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) return value.forEach((each, index) => visit(each, new Step(above, index)))
    for (const key of Object.keys(value)) {
      const each = value[key]!
      const use = new Use(above, key, each, value)
      const before = uses.get(key)
      if (before === undefined) uses.set(key, [use])
      else before.push(use)
      if (typeof each !== 'object' || each === null || VALUES.has(key)) continue
      if (NAMING.has(key) && isJsonObject(each))
        for (const name of Object.keys(each)) visit(each[name]!, new Step(use, name))
      else visit(each, use)
    }
  }
  visit(schema, undefined)
  return uses
}

/** A way into a schema, which is put into words when something is wrong there. */
class Step {
  readonly #above: Step | undefined
  readonly #key: string | number

  constructor(above: Step | undefined, key: string | number) {
    this.#above = above
    this.#key = key
  }

  get pointer(): string {
    return pointerTo(this.#above?.pointer ?? '', this.#key)
  }
}

class Use extends Step implements KeywordUse {
  readonly value: JsonValue
  readonly holder: JsonObject

  constructor(above: Step | undefined, key: string, value: JsonValue, holder: JsonObject) {
    super(above, key)
    this.value = value
    this.holder = holder
  }
}
