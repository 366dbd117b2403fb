/** What one schema accepts and another refuses, as far as plain keywords show it. No answer proves nothing. */
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { describeMisfit } from '../../policy/prove/misfit.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { ownMember } from '../../base/json/own-member.ts'
import { listIn } from '../../policy/prove/schema-parts.ts'

export interface SchemaWidening {
  /** Pointer into the wider schema. */
  readonly pointer: string
  /** Pointer into the narrower schema. */
  readonly against: string
  readonly message: string
}

/** Values that the first schema certainly accepts and the second rejects, by property. */
export function schemaWidenings(wide: JsonObject | boolean, narrow: JsonObject | boolean): SchemaWidening[] {
  if (!isJsonObject(wide) || !isJsonObject(narrow) || !isPlain(wide)) return []
  const [own, other] = [propertiesOf(wide), propertiesOf(narrow)]
  const found: SchemaWidening[] = []
  const required = listIn(wide, 'required')
  for (const name of listIn(narrow, 'required'))
    if (typeof name === 'string' && !required.includes(name))
      found.push({ pointer: '', against: '/required', message: `"${name}" may be left out.` })
  if (narrow['additionalProperties'] === false && !Object.hasOwn(narrow, 'patternProperties'))
    for (const name of Object.keys(own))
      if (!Object.hasOwn(other, name))
        found.push({
          pointer: pointerTo('/properties', name),
          against: '/additionalProperties',
          message: `"${name}" may be given.`,
        })
  for (const [name, property] of Object.entries(other)) {
    const mine = ownMember(own, name)
    if (!isJsonObject(property) || !isJsonObject(mine) || !isPlain(mine)) continue
    const message = wider(mine, property)
    if (message !== undefined)
      found.push({
        pointer: pointerTo('/properties', name),
        against: pointerTo('/properties', name),
        message: `"${name}" may be ${message}.`,
      })
  }
  return found
}

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isJsonObject(properties) ? properties : {})

/** Describes a value that the first schema accepts and the second rejects. */
function wider(wide: JsonObject, narrow: JsonObject): string | undefined {
  const { enum: values, const: only } = wide
  const fixed = only === undefined ? undefined : [only]
  const listed = Array.isArray(values) ? values : fixed
  if (listed !== undefined) {
    const outside = listed.find(
      (value) => describeMisfit(wide, value) === undefined && describeMisfit(narrow, value) !== undefined,
    )
    return outside === undefined ? undefined : JSON.stringify(outside)
  }
  const type = wide['type']
  if (type === 'string' && !Object.hasOwn(wide, 'pattern') && !Object.hasOwn(wide, 'format')) {
    if (Array.isArray(narrow['enum']) || narrow['const'] !== undefined) return 'any text'
    const most = narrow['maxLength']
    return typeof most === 'number' && !(typeof wide['maxLength'] === 'number' && wide['maxLength'] <= most)
      ? `longer than ${most} characters`
      : undefined
  }
  if (type === 'number' || type === 'integer') {
    if (Array.isArray(narrow['enum'])) return 'any number'
    if (type === 'number' && narrow['type'] === 'integer' && wide['multipleOf'] === undefined) return 'a fraction'
    const edges = [
      ['maximum', 1],
      ['minimum', -1],
    ] as const
    for (const [edge, sign] of edges) {
      const bound = narrow[edge]
      const mine = [wide[edge], wide[sign > 0 ? 'exclusiveMaximum' : 'exclusiveMinimum']].filter(
        (each) => typeof each === 'number',
      )
      if (typeof bound === 'number' && !mine.some((each) => sign * each <= sign * bound))
        return `${sign > 0 ? 'more' : 'less'} than ${bound}`
    }
  }
  return undefined
}

/** True if the schema has no keyword besides those that are compared. */
const isPlain = (schema: JsonObject): boolean =>
  !['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'dependentSchemas', '$dynamicRef'].some((key) =>
    Object.hasOwn(schema, key),
  )
