/** The keywords of JSON Schema, and where a schema uses them. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { MERGE_KEY } from '../text/merge-keys.ts'

/**
 * What a keyword holds. `schemas`: a schema or a list of them. `named`: schemas by names that the author chose, so that a
 * property may be called `pattern`. `value`: anything else.
 */
type KeywordContent = 'schemas' | 'named' | 'value'

const SCHEMAS = `additionalProperties allOf anyOf contains contentSchema else if items not oneOf prefixItems propertyNames then
  unevaluatedItems unevaluatedProperties`
const NAMED = `$defs definitions dependencies dependentSchemas patternProperties properties`
const VALUES = `$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema $vocabulary const
  contentEncoding contentMediaType default dependentRequired deprecated description enum examples exclusiveMaximum
  exclusiveMinimum format maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties
  minimum multipleOf pattern readOnly required title type uniqueItems writeOnly`

const contents = new Map<string, KeywordContent>(
  (
    [
      [SCHEMAS, 'schemas'],
      [NAMED, 'named'],
      [VALUES, 'value'],
    ] as const
  ).flatMap(([words, content]) => words.split(/\s+/).map((word) => [word, content] as const)),
)

/** Every keyword of draft 2020-12, with those of 2019-09 that it replaced. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set(contents.keys())

export interface KeywordUse {
  readonly pointer: string
  readonly value: JsonValue
  /** The schema that contains it. */
  readonly holder: JsonObject
  /** False inside an unknown keyword, where it applies only if a reference leads there, and inside a merge key. */
  readonly isApplied: boolean
}

/** Every use of each keyword, known or not, at any depth. */
export function keywordsIn(schema: JsonObject | boolean): ReadonlyMap<string, readonly KeywordUse[]> {
  const uses = new Map<string, KeywordUse[]>()
  const visit = (value: JsonValue, pointer: string, isApplied: boolean): void => {
    if (Array.isArray(value)) value.forEach((each, at) => visit(each, pointerTo(pointer, at), isApplied))
    if (!isJsonObject(value)) return
    for (const [key, each] of Object.entries(value)) {
      const use = { pointer: pointerTo(pointer, key), value: each, holder: value, isApplied }
      const before = uses.get(key)
      if (before === undefined) uses.set(key, [use])
      else before.push(use)
      const content = contents.get(key)
      if (content === 'value') continue
      if (content === 'named' && isJsonObject(each))
        for (const [name, named] of Object.entries(each))
          visit(named, pointerTo(use.pointer, name), isApplied && name !== MERGE_KEY)
      else visit(each, use.pointer, isApplied && content !== undefined)
    }
  }
  visit(schema, '', true)
  return uses
}
