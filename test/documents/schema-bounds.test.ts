import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { complete } from './complete.ts'

type Files = Readonly<Record<string, string>>

/** Findings of the rules about what a schema may cost and whether anything fits it. */
const found = (files: Files): string[] =>
  lintWorkspace(loadFiles(complete(files)))
    .filter(({ rule }) => /^schema\/(?:unsafe-pattern|ref-loop|empty-range|invalid)$/.test(rule))
    .map(({ path, rule, message }) => `${path} ${rule} ${message}`)

const tool = (schema: JsonObject): Files => ({
  'tool.yaml': `kind: Tool\nspec:\n  input_schema: {inline: ${JSON.stringify({ type: 'object', ...schema })}}\n`,
})

const property = (schema: JsonObject): Files => tool({ properties: { a: schema } })

const TWICE = 'This pattern can read a text in many ways, and tries them all: the time doubles with every few letters.'
const power = (degree: number, longest: number): string =>
  `The time that this pattern takes grows with the length of the text to the power of ${degree}: a \`maxLength\` of at most ${longest} would bound it.`

test.each<[JsonObject, string | undefined]>([
  [{ pattern: '^(a|a)*$' }, TWICE],
  [{ pattern: '(x+x+)+y' }, TWICE],
  [{ pattern: String.raw`^(\w+\s?)*$` }, TWICE],
  [{ pattern: '(.*a){12}' }, TWICE],
  [{ pattern: '(a|aa)+$' }, TWICE],
  [{ pattern: '(a|aa)+$', maxLength: 64 }, TWICE],
  [{ pattern: String.raw`^[^@\s]+@[^@\s]+\.[^@\s]+$` }, power(2, 1000)],
  [{ pattern: String.raw`^[^@\s]+@[^@\s]+\.[^@\s]+$`, maxLength: 1000 }, undefined],
  [{ pattern: '^a*a*a*$', maxLength: 1000 }, power(3, 100)],
  [{ pattern: String.raw`^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$` }, undefined],
  [{ patternProperties: { '^(a|a)*$': {} } }, TWICE],
  [{ patternProperties: { '^x-': { pattern: '^(a+)+$' } } }, TWICE],
  [{ items: { anyOf: [{ pattern: '^(a+)+$' }] } }, TWICE],
])('%j', (schema, message) => {
  expect(found(property(schema))).toEqual(message === undefined ? [] : [`tool.yaml schema/unsafe-pattern ${message}`])
})

test('a pattern is looked at wherever a schema stands', () => {
  const unsafe = JSON.stringify({ type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } })
  const schema = `{inline: ${unsafe}}`
  expect(
    found({
      'agent.yaml': `kind: Agent
metadata: {annotations: {svc/input-schema: schemas/input.json}}
spec:
  tools: [{id: crm.find, input_schema: ${schema}}]
  agents: [{id: other, ref: acme.other, description: d, input_schema: ${schema}}]
output: {format: json, schema: ${schema}}
`,
      'schemas/input.json': unsafe,
      'tool.yaml': `kind: Tool\nspec: {input_schema: ${schema}, output_schema: ${schema}}\n`,
    }).sort(),
  ).toEqual([
    ...Array.from({ length: 3 }, () => `agent.yaml schema/unsafe-pattern ${TWICE}`),
    `schemas/input.json schema/unsafe-pattern ${TWICE}`,
    ...Array.from({ length: 2 }, () => `tool.yaml schema/unsafe-pattern ${TWICE}`),
  ])
})

const ladder = (steps: number): JsonObject => ({
  properties: { a: { $ref: '#/$defs/d0' } },
  $defs: Object.fromEntries(
    Array.from({ length: steps + 1 }, (_, at) => [
      `d${at}`,
      at === steps ? { type: 'string' } : { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  ),
})
const loop = 'tool.yaml schema/ref-loop No run can use this schema: its references lead back to themselves'

test.each<[string, Files, string[]]>([
  [
    'a loop',
    tool({
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } },
    }),
    [`${loop}: #/$defs/a > #/$defs/b > #/$defs/a.`],
  ],
  ['a loop of the whole', tool({ anyOf: [{ $ref: '#' }] }), [`${loop}: #.`]],
  [
    'a loop through files',
    {
      'tool.yaml': 'kind: Tool\nspec: {input_schema: {ref: a.json}}\n',
      'a.json': '{"type": "object", "properties": {"a": {"$ref": "b.json"}}}',
      'b.json': '{"allOf": [{"$ref": "c.json"}]}',
      'c.json': '{"not": {"$ref": "b.json"}}',
    },
    [
      'a.json schema/ref-loop No run can use this schema: its references lead back to themselves: #/$defs/file1 > #/$defs/file2 > #/$defs/file1.',
    ],
  ],
  [
    'a ladder',
    tool(ladder(12)),
    ['tool.yaml schema/ref-loop No run can use this schema: the schema has more than 2000 nodes, references followed.'],
  ],
  ['a short ladder', tool(ladder(6)), []],
  [
    'a tree',
    tool({ properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { properties: { a: { $ref: '#/$defs/a' } } } } }),
    [],
  ],
  [
    'more than 2,000 nodes',
    tool({ properties: Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`a${at}`, {}])) }),
    ['tool.yaml schema/invalid No run can use this schema: the schema has more than 2000 nodes, references followed.'],
  ],
  [
    'a long enum',
    property({ enum: Array.from({ length: 1001 }, (_, at) => at) }),
    ['tool.yaml schema/invalid No run can use this schema: an enum has more than 1000 values.'],
  ],
])('what no run could check is told: %s', (_, files, findings) => {
  expect(found(files)).toEqual(findings)
})

test.each<[JsonObject, string | undefined]>([
  [{ minimum: 10, maximum: 5 }, '`minimum` is 10, and `maximum` is 5'],
  [{ minimum: 5, maximum: 5 }, undefined],
  [{ minimum: 5, exclusiveMaximum: 5 }, '`minimum` is 5, and `exclusiveMaximum` is 5'],
  [{ exclusiveMinimum: 5, maximum: 5 }, '`exclusiveMinimum` is 5, and `maximum` is 5'],
  [{ exclusiveMinimum: 5, exclusiveMaximum: 5 }, '`exclusiveMinimum` is 5, and `exclusiveMaximum` is 5'],
  [{ minLength: 3, maxLength: 2 }, '`minLength` is 3, and `maxLength` is 2'],
  [{ items: { minItems: 3, maxItems: 2 } }, '`minItems` is 3, and `maxItems` is 2'],
  [{ minProperties: 3, maxProperties: 2 }, '`minProperties` is 3, and `maxProperties` is 2'],
  [{ contains: {}, minContains: 3, maxContains: 2 }, '`minContains` is 3, and `maxContains` is 2'],
  [{ properties: { minimum: { maximum: 3 }, maximum: { minimum: 4 } } }, undefined],
])('%j', (schema, bounds) => {
  expect(found(property(schema))).toEqual(
    bounds === undefined ? [] : [`tool.yaml schema/empty-range No value fits: ${bounds}.`],
  )
})
