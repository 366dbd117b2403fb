/** A JSON Schema in a document is read as strictly as the document itself. */
import {
  type Arbitrary,
  array,
  assert,
  constantFrom,
  dictionary,
  integer,
  nat,
  property,
  record,
  string,
} from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { pointerTo } from '../../src/base/json/pointer.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { SCHEMA_KEYWORDS } from '../../src/documents/schemas/schema-keywords.ts'
import { validate as metaSchema } from '../../src/tools/generated/meta-schema.js'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { complete } from './complete.ts'

const inlineTool = (schema: string): Record<string, string> => ({
  'tool.yaml': `apiVersion: svc/v1
kind: Tool
metadata: { name: ship, namespace: acme, version: 1.0.0 }
spec: { input_schema: { inline: ${schema} } }
`,
})

const unknown = (schema: JsonObject): string[] =>
  lintWorkspace(loadFiles(inlineTool(JSON.stringify(schema))))
    .filter(({ rule }) => rule === 'schema/unknown-keyword')
    .map(({ pointer }) => pointer)

/** Schemas of every form in which a schema can stand in another, two levels deep; names of properties are any text. */
function schemaOf(depth: number): Arbitrary<JsonObject> {
  const plain = {
    type: constantFrom('object', 'string', 'array'),
    title: string({ maxLength: 4 }),
    default: dictionary(string({ maxLength: 5 }), integer(), { maxKeys: 2, noNullPrototype: true }),
  }
  const options = { requiredKeys: [] as never[], noNullPrototype: true } as const
  if (depth === 0) return record(plain, options) as Arbitrary<JsonObject>
  const below = schemaOf(depth - 1)
  const named = dictionary(string({ maxLength: 6 }), below, { maxKeys: 2, noNullPrototype: true })
  return record(
    {
      ...plain,
      properties: named,
      $defs: named,
      patternProperties: dictionary(constantFrom('^a', 'b$'), below, { maxKeys: 1, noNullPrototype: true }),
      dependentSchemas: named,
      items: below,
      additionalProperties: below,
      not: below,
      allOf: array(below, { minLength: 1, maxLength: 2 }),
    },
    options,
  ) as Arbitrary<JsonObject>
}
const anySchema = schemaOf(2)

/** Every schema in a schema, found by the meta-schema's own words instead of the table under test. */
function placesOf(schema: JsonObject, at = ''): readonly (readonly [pointer: string, schema: JsonObject])[] {
  const named = ['properties', '$defs', 'patternProperties', 'dependentSchemas'].flatMap((key) =>
    Object.entries((schema[key] ?? {}) as JsonObject).flatMap(([name, each]) =>
      placesOf(each as JsonObject, pointerTo(pointerTo(at, key), name)),
    ),
  )
  const single = ['items', 'additionalProperties', 'not'].flatMap((key) =>
    schema[key] === undefined ? [] : placesOf(schema[key] as JsonObject, pointerTo(at, key)),
  )
  const listed = ((schema['allOf'] ?? []) as JsonObject[]).flatMap((each, index) =>
    placesOf(each, pointerTo(pointerTo(at, 'allOf'), index)),
  )
  return [[at, schema], ...named, ...single, ...listed]
}

test('an unknown keyword is found in every place of a schema, and nothing else is', () => {
  assert(
    property(anySchema, nat(), constantFrom('requried', 'maxLenght', 'property', 'tooltip'), (schema, which, word) => {
      expect(unknown(schema)).toEqual([])
      const places = placesOf(schema)
      const [pointer, holder] = places[which % places.length]!
      const misspelt = structuredClone(schema)
      placesOf(misspelt)[which % places.length]![1][word] = true
      expect(holder).not.toHaveProperty([word])
      expect(unknown(misspelt)).toEqual([pointerTo(`/spec/input_schema/inline${pointer}`, word)])
    }),
    { numRuns: 40 },
  )
})

test('the keywords are those of the meta-schema', () => {
  // A meta-schema says nothing about an unknown keyword, and refuses a wrong value of most known ones.
  const isRead = (keyword: string): boolean =>
    [null, 5, 'é#/%', [], {}, true].some((value) => !metaSchema({ [keyword]: value }))
  const free = ['const', 'default']
  expect([...SCHEMA_KEYWORDS].filter((keyword) => !isRead(keyword))).toEqual(free)
  expect(['requried', 'tooltip', 'property'].filter(isRead)).toEqual([])
})

/** One line a form: a schema in YAML, and what lint says of it. */
const forms: readonly (readonly [name: string, schema: string, told: readonly string[]])[] = [
  ['a merge key among keywords', '{ $defs: { b: &b { type: string, maxLength: 3 } }, <<: *b }', [MERGED()]],
  ['a merge key among properties', '{ $defs: &d { b: {} }, properties: { <<: *d } }', [MERGED()]],
  ['a merge key in a value', '{ default: { <<: { a: 1 } } }', [MERGED()]],
  ['a property that is named so in quotes', '{ properties: { "<<": { type: boolean } } }', []],
  [
    'an alias, whose anchor is read',
    '{ properties: { a: &a { type: boolean, defualt: true }, b: *a } }',
    ['schema/unknown-keyword error `defualt` is no keyword of JSON Schema. Did you mean `default`?'],
  ],
  ['a word that begins with x-', '{ x-order: [a], properties: { requried: { type: boolean } } }', []],
  [
    'a word for editors',
    '{ markdownDescription: x }',
    ['schema/unknown-keyword warning Validators ignore `markdownDescription`, which is no keyword of JSON Schema.'],
  ],
  [
    'a default that lacks what its schema requires',
    '{ properties: { a: { type: object, required: [x], additionalProperties: false, properties: { x: {} }, default: {} } } }',
    ['schema/default-invalid warning {} does not fit: it lacks the property "x".'],
  ],
  [
    'an example behind a reference',
    '{ $defs: { n: { type: integer } }, properties: { a: { $ref: "#/$defs/n", examples: [1, one] } } }',
    ['schema/default-invalid warning "one" does not fit: the type is integer.'],
  ],
  [
    'a listed value that a reference refuses',
    '{ $defs: { n: { type: integer } }, properties: { a: { $ref: "#/$defs/n", enum: [1, one] } } }',
    ['schema/enum-invalid warning "one" can never be given: the type is integer.'],
  ],
  [
    'a list of which nothing remains',
    '{ properties: { a: { type: string, maxLength: 1, enum: [aa, bb] } } }',
    ['schema/enum-invalid error "aa" can never be given: it is too long.'],
  ],
]

function MERGED(): string {
  return 'doc/unknown-key error Merge keys are not read: YAML 1.2 has none.'
}

test.each(forms)('%s', (_, schema, told) => {
  const found = lintWorkspace(loadFiles(inlineTool(schema)))
  expect(
    found
      .filter(({ rule }) => /^(?:doc|schema)\/(?!open-object|unbounded|not-object)/.test(rule))
      .map(({ rule, severity, message }) => `${rule} ${severity} ${message}`),
  ).toEqual(told)
})

test('a schema file is read in the same way', () => {
  const files = complete({
    'tool.yaml': 'kind: Tool\nspec:\n  input_schema: { ref: in.yaml }\n',
    'in.yaml': 'type: object\nrequried: [a]\nadditionalProperties: false\n',
  })
  const found = lintWorkspace(
    loadFiles({ ...files, 'in.yaml': 'type: object\nrequried: [a]\nadditionalProperties: false\n' }),
  )
  expect(found.map(({ path, rule, range }) => `${path}:${range.start.line} ${rule}`)).toContain(
    'in.yaml:2 schema/unknown-keyword',
  )
})
