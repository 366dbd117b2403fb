/** Schemas that make a check long, and values that make each of them work: the same for the same seed. */
import type { JsonObject, JsonValue } from '../../../src/base/json/json.ts'

export interface HostileCase {
  readonly seed: number
  /** The schema of an object whose property `a` holds the value. */
  readonly schema: JsonObject
  readonly value: JsonValue
  /** The kinds of schema and value, for the report of a failure. */
  readonly about: string
}

/** A body of the API may have 1 MiB; some of it is around the value. */
export const LARGEST_VALUE_BYTES = 1024 * 1024 - 1024

export function hostileCase(seed: number, maxBytes = LARGEST_VALUE_BYTES): HostileCase {
  const random = createRandom(seed)
  const defs: JsonObject = {}
  const [kind, build] = random.pick(Object.entries(SCHEMAS))
  const found = build({ ...random, defs }, 0)
  const [shape, fill] = random.pick(Object.entries(VALUES))
  const bytes = random.pick([200, 20_000, 200_000, maxBytes, maxBytes])
  const schema: JsonObject = {
    type: 'object',
    properties: { a: found },
    ...(Object.keys(defs).length > 0 && { $defs: defs }),
  }
  return { seed, schema, value: fill(random, found, bytes), about: `${kind}, ${shape} of ${bytes} bytes` }
}

interface Random {
  /** An integer from 0 to `below` - 1. */
  readonly below: (below: number) => number
  readonly from: (least: number, most: number) => number
  readonly pick: <T>(choices: readonly T[]) => T
}

/** Mulberry32: a small generator that is good enough for choices. */
function createRandom(seed: number): Random {
  let state = seed | 0
  const below = (count: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }
  return {
    below,
    from: (least, most) => least + below(most - least + 1),
    pick: (choices) => choices[below(choices.length)]!,
  }
}

interface SchemaParts extends Random {
  /** Definitions beside the schema. */
  readonly defs: JsonObject
}

type BuildSchema = (parts: SchemaParts, depth: number) => JsonObject

const numbered = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

/** Patterns that can be matched in many ways, or in one, alone and put together. */
const PATTERNS = [
  '^(a|a)*$',
  '^(a+)+$',
  '(x+x+)+y',
  '^(\\w+\\s?)*$',
  '(.*a){12}',
  '(a|aa)+$',
  '^a*a*$',
  'a+$',
  '^a',
  '^[a-z]{2}$',
]
const patternOf = ({ pick, below }: Random): string =>
  below(3) > 0
    ? pick(PATTERNS)
    : `(${pick(PATTERNS).replace(/^\^|\$$/g, '')}|${pick(PATTERNS).replace(/^\^|\$$/g, '')})*$`

const FORMATS = ['email', 'uri', 'date-time', 'hostname', 'ipv6', 'regex', 'uri-template', 'duration', 'json-pointer']

const leaf: BuildSchema = (random) =>
  random.pick<JsonObject>([
    {},
    { type: 'string', maxLength: random.below(100) },
    { type: 'object' },
    { type: 'integer', minimum: 0, multipleOf: random.from(1, 7) },
    { type: 'string', pattern: patternOf(random) },
    { type: 'string', format: random.pick(FORMATS) },
    { const: { x: 1 } },
  ])

const part: BuildSchema = (parts, depth) =>
  depth > 2 || parts.below(3) === 0 ? leaf(parts, depth) : parts.pick(Object.values(SCHEMAS))(parts, depth + 1)

/** For a list and for an object alike, since the value may be either. */
const within = (parts: SchemaParts, schema: JsonObject): JsonObject =>
  parts.below(2) === 0 ? { items: schema } : { items: schema, additionalProperties: schema }

const SCHEMAS: Readonly<Record<string, BuildSchema>> = {
  unique: (parts, depth) => ({ uniqueItems: true, items: part(parts, depth) }),
  required: (parts) => within(parts, { required: numbered(parts.from(5, 100), (at) => `f${at}`) }),
  shapes(parts, depth) {
    const word = parts.pick(['oneOf', 'anyOf', 'allOf'])
    const sub = part(parts, depth + 2)
    const shapes = numbered(parts.from(2, depth === 0 ? 300 : 12), (at) =>
      parts.pick<JsonObject>([
        { required: [`f${at}`] },
        { properties: { kind: { const: `k${at}` }, x: sub }, required: ['kind'] },
        { type: 'object', properties: { [`f${at}`]: false } },
        { type: parts.pick(['string', 'array', 'number']) },
      ]),
    )
    return parts.below(2) === 0 ? { [word]: shapes } : within(parts, { [word]: shapes })
  },
  ladder(parts) {
    const [steps, wide] = [parts.from(2, 12), parts.from(1, 3)]
    const name = `d${Object.keys(parts.defs).length}x`
    const word = parts.pick(['allOf', 'anyOf', 'oneOf'])
    for (let at = 0; at < steps; at++)
      parts.defs[name + at] = { [word]: numbered(wide, () => ({ $ref: `#/$defs/${name}${at + 1}` })) }
    parts.defs[name + steps] = leaf(parts, 9)
    return within(parts, { $ref: `#/$defs/${name}0` })
  },
  recursive(parts) {
    const name = `r${Object.keys(parts.defs).length}`
    const again = { $ref: `#/$defs/${name}` }
    const word = parts.pick(['allOf', 'anyOf', 'oneOf'])
    const twice: JsonObject = { [word]: [again, parts.below(2) === 0 ? { not: again } : again] }
    parts.defs[name] = parts.pick<JsonObject>([
      { properties: { x: twice }, items: again },
      { additionalProperties: twice, items: again },
      { items: twice },
    ])
    return again
  },
  pattern(parts) {
    const text: JsonObject = { pattern: patternOf(parts) }
    return { ...text, ...within(parts, text) }
  },
  patternProperties: (parts, depth) =>
    within(parts, {
      patternProperties: Object.fromEntries(
        numbered(parts.from(1, 20), () => [patternOf(parts), part(parts, depth + 2)]),
      ),
      additionalProperties: parts.below(2) === 0,
    }),
  names: (parts) => {
    const names: JsonObject = {
      propertyNames: parts.pick<JsonObject>([{ pattern: patternOf(parts) }, { maxLength: 3 }]),
    }
    return { ...names, items: names }
  },
  contains: (parts, depth) => ({
    contains: part(parts, depth),
    minContains: parts.from(1, 1000),
    ...(parts.below(2) === 0 && { items: { contains: part(parts, depth + 1) } }),
  }),
  deep(parts) {
    let schema = leaf(parts, 9)
    for (let at = parts.from(2, 14); at > 0; at--) schema = { properties: { x: schema }, items: schema }
    return schema
  },
  enum(parts) {
    const values = numbered(parts.from(2, 1000), (at) => (parts.below(2) === 0 ? `value ${at}` : { x: at }))
    return parts.below(2) === 0 ? { items: { enum: values } } : { items: { properties: { x: { enum: values } } } }
  },
  unevaluated: (parts, depth) =>
    within(parts, {
      anyOf: numbered(parts.from(2, 20), (at) => ({ properties: { [`f${at}`]: part(parts, depth + 2) } })),
      unevaluatedProperties: false,
    }),
  branches: (parts, depth) =>
    within(parts, {
      ...Object.fromEntries(['if', 'then', 'else'].map((word) => [word, part(parts, depth + 1)])),
      dependentRequired: { x: numbered(20, (at) => `f${at}`) },
    }),
  format: (parts) => {
    const format = { format: parts.pick(FORMATS) }
    return { ...format, items: format }
  },
}

type FillValue = (random: Random, schema: JsonObject, bytes: number) => JsonValue

/** As many of a part as the size allows. */
function many<T extends JsonValue>(bytes: number, make: (at: number) => T): T[] {
  const all: T[] = []
  for (let left = bytes; ;) {
    const each = make(all.length)
    left -= JSON.stringify(each).length + 1
    if (left < 0) return all
    all.push(each)
  }
}

/** A long run of one letter, and a letter at which matching has to try again. */
const rope = (random: Random, length: number): string =>
  random.pick(['a', 'x', 'aa ', '0', '/']).repeat(length).slice(0, length) + random.pick(['', 'b', '!', '\u0000'])

const VALUES: Readonly<Record<string, FillValue>> = {
  empties: (_, __, bytes) => many(bytes, () => ({})),
  lists: (_, __, bytes) => many(bytes, () => []),
  numbers: (_, __, bytes) => many(bytes, (at) => at % 10),
  rows: (random, _, bytes) => {
    const fields = random.from(1, 12)
    return many(bytes, (at) => ({
      kind: `k${at % 300}`,
      x: at,
      ...Object.fromEntries(numbered(fields, (n) => [`f${n}`, at])),
    }))
  },
  last: (_, __, bytes) => [...many(bytes - 10, () => ({ x: 1 })), { y: 1 }],
  text: (random, _, bytes) => rope(random, bytes),
  texts: (random, _, bytes) => {
    const length = random.from(1, 200)
    return many(bytes, () => rope(random, length))
  },
  names: (random, _, bytes) => {
    const length = random.from(1, 100)
    return Object.fromEntries(many(bytes, (at) => [`${rope(random, length)}${at}`, 1] as [string, number]))
  },
  deep: (random, _, bytes) => {
    const open = random.pick<readonly [string, string]>([
      ['{"x":', '}'],
      ['[', ']'],
      ['[{"x":', '}]'],
    ])
    const levels = open[0].length > 5 ? 25 : 50
    const one = open[0].repeat(levels) + '1' + open[1].repeat(levels)
    const value = JSON.parse(one) as JsonValue
    return bytes < 1000 ? value : many(bytes, () => value)
  },
  tree: (random, _, bytes) => {
    const width = random.from(2, 5)
    const grow = (left: number): JsonValue => {
      if (left < 20) return 1
      const share = left / width - 6
      return random.below(2) === 0 ? { x: grow(share), y: grow(share) } : numbered(width, () => grow(share))
    }
    return grow(bytes)
  },
  valid: (_, schema, bytes) => many(bytes, () => exampleOf(schema, 0)),
}

/** Something that the schema is likely to accept. */
function exampleOf(schema: JsonObject, depth: number): JsonValue {
  if (depth > 8) return {}
  const first = [schema['oneOf'], schema['anyOf'], schema['allOf']].find(Array.isArray)?.[0]
  if (first !== undefined) return exampleOf(first as JsonObject, depth + 1)
  if (schema['const'] !== undefined) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]!
  if (Array.isArray(schema['required']))
    return Object.fromEntries((schema['required'] as string[]).map((name) => [name, 1]))
  if (schema['items'] !== undefined && depth > 0) return [exampleOf(schema['items'] as JsonObject, depth + 1)]
  if (schema['items'] !== undefined) return exampleOf(schema['items'] as JsonObject, depth + 1)
  const properties = schema['properties'] as JsonObject | undefined
  if (properties !== undefined)
    return Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, exampleOf(each as JsonObject, depth + 1)]),
    )
  if (schema['pattern'] !== undefined) return 'aa'
  return schema['type'] === 'integer' ? 0 : schema['type'] === 'string' ? 'a' : {}
}
