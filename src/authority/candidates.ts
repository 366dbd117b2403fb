/** Values of a class that a schema may accept. A class stands for many values, and the first one may not satisfy the schema. */
import { isJsonObject, type JsonValue } from '../base/json/json.ts'
import type { ValueClass } from '../policy/prove/classes.ts'
import { numbersFor, type ValueDomain } from '../policy/prove/domains.ts'
import { attachDefinitions } from '../policy/prove/schema-parts.ts'
import { sampleValue } from '../providers/sample.ts'
import { sampleText } from '../providers/sample-text.ts'

/** A value at a path, or the reason why there is none. */
export type Choice = { readonly value: JsonValue } | { readonly value?: never; readonly state: 'absent' | 'unreadable' }

/**
 * @param hints values that are worth a try, of whatever class
 * @param usual the value of a plain call
 */
export function candidatesOf(
  each: ValueClass,
  domain: ValueDomain,
  hints: readonly JsonValue[],
  usual: JsonValue | undefined,
): readonly Choice[] {
  if (!('value' in each)) return [{ state: each.kind }]
  const values = [...new Set([...(usual === undefined ? [] : [usual]), ...valuesOf(each, domain, hints)])]
  return values.filter((value) => isIn(each, value)).map((value) => ({ value }))
}

type Valued = Extract<ValueClass, { readonly value: JsonValue }>

function valuesOf(each: Valued, domain: ValueDomain, hints: readonly JsonValue[]): readonly JsonValue[] {
  switch (each.kind) {
    case 'one':
      return [each.value]
    case 'numbers':
      return [each.value, ...numbersIn(each, domain)]
    case 'large':
      return [each.value, Math.sign(each.value) * 2 ** 53]
    case 'long_text':
      // The shortest candidates in characters, because these characters have four bytes.
      return [each.value, '\u{1F600}'.repeat(16 * 1024 + 1)]
    case 'text':
      return [each.value, ...textsFor(domain), ...hints]
    default:
      return [each.value, ...hints, [], ...mappingsFor(domain)]
  }
}

/** True for a value of the class. For a text, list or mapping it checks the type only. */
function isIn(each: Valued, value: JsonValue): boolean {
  switch (each.kind) {
    case 'one':
      return value === each.value
    case 'numbers':
      return (
        typeof value === 'number' && value > each.above && value < each.below && Number.isInteger(value) === each.whole
      )
    case 'large':
      return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER
    case 'list':
      return Array.isArray(value)
    case 'mapping':
      return isJsonObject(value)
    default:
      return typeof value === 'string'
  }
}

function numbersIn({ above, below }: Extract<ValueClass, { kind: 'numbers' }>, domain: ValueDomain): readonly number[] {
  const steps = [1, 0.5, 0.25, 0.1, 0.01, ...numbersFor(domain, 'multipleOf').filter((step) => step > 0)]
  return [
    above + (below - above) / 2,
    Math.ceil(below) - 1,
    Math.floor(above) + 1,
    ...steps.flatMap((step) => [(Math.floor(above / step) + 1) * step, (Math.ceil(below / step) - 1) * step]),
  ]
}

/** Mappings with every member that a schema describes. */
const mappingsFor = ({ schemas }: ValueDomain): readonly JsonValue[] =>
  schemas.flatMap(({ schema, root }) => {
    if (!isJsonObject(schema) || !isJsonObject(schema['properties']) || !isJsonObject(root)) return []
    const required = Object.keys(schema['properties'])
    return sampleValue({ ...attachDefinitions(schema, root), required }, {}) ?? []
  })

/** Prefixes that authors' patterns often allow. */
const KINDS = ['x', 'X', 'Q', 'Z', 'q', '0', '7', '-', ' ']
/** Longer texts are not generated. */
const MAX_LENGTH = 2000

/** Texts that limits of length, patterns and formats may allow. */
function textsFor(domain: ValueDomain): readonly string[] {
  const least = Math.max(0, ...numbersFor(domain, 'minLength'))
  const most = Math.min(MAX_LENGTH, ...numbersFor(domain, 'maxLength'))
  const lengths = [...new Set([Math.min(Math.max(least, 5), most), least, Math.min(least + 1, most), most])]
  const samples = domain.schemas.flatMap(({ schema }) => {
    if (!isJsonObject(schema) || (schema['pattern'] === undefined && schema['format'] === undefined)) return []
    const { pattern } = schema
    const choices = typeof pattern === 'string' ? alternativesOf(pattern) : []
    return [...choices, sampleText({ ...schema, minLength: least }, undefined) ?? []].flat()
  })
  const made = lengths
    .filter((length) => length <= MAX_LENGTH)
    .flatMap((length) => KINDS.map((kind) => kind.repeat(length)))
  return [...samples, ...made]
}

/** The texts of a pattern that lists them: `^(EUR|USD)$`. */
function alternativesOf(pattern: string): readonly string[] {
  const list = /^\^?\(?(?:\?:)?([\w -]+(?:\|[\w -]+)*)\)?\$?$/.exec(pattern)?.[1]
  return list === undefined ? [] : list.split('|')
}
