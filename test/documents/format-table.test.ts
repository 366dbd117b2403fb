import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json/json.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { hasShape, type DocumentSchema } from '../../src/documents/workspace/shape.ts'
import { KINDS, type DocumentKind } from '../../src/spec/document.ts'
import { allows, beside, changed, closed, fields, full } from './format-table.ts'

const schemaOf = (kind: DocumentKind): DocumentSchema => kind.toLowerCase() as DocumentSchema

/** What the linter says of a document by itself. */
const errorsOf = (document: JsonValue): number =>
  lintWorkspace(loadFiles({ 'x.json': JSON.stringify(document) }, { focus: ['x.json'] }), { crossFile: false }).filter(
    ({ severity }) => severity === 'error',
  ).length

type Row = readonly [sentence: string, kind: DocumentKind, document: JsonValue, valid: boolean]

const documents: Row[] = fields.flatMap(({ kind, path, says, required, good, bad }) => [
  ...good.map((value): Row => [`${says}: ${JSON.stringify(value)}`, kind, changed(full[kind], path, value), true]),
  ...bad.map((value): Row => [`${says}: not ${JSON.stringify(value)}`, kind, changed(full[kind], path, value), false]),
  [`${says}: left out`, kind, changed(full[kind], path, undefined), !required],
])

const strays: Row[] = closed.map(({ kind, path }) => [
  `${kind}: \`${path.join('.') || 'the top level'}\` rejects unknown properties`,
  kind,
  changed(full[kind], [...path, 'banana'], 1),
  false,
])

const model = (value: JsonValue): JsonValue => changed(full.Agent, ['spec', 'model'], value)
const agent = (path: readonly (string | number)[], value: JsonValue | undefined): JsonValue =>
  changed(full.Agent, path, value)
const server = { name: 'web', url: 'https://mcp.example/' }

/** What one value says about another. */
const together: Row[] = [
  ...['vendor_a', 'vendor_b', 'anything else'].flatMap((provider): Row[] => [
    [`Any non-empty provider is accepted: ${provider}`, 'Agent', model({ provider, name: 'm' }), true],
    [
      `base_url must be absent for ${provider}`,
      'Agent',
      model({ provider, name: 'm', base_url: 'https://x/v1' }),
      false,
    ],
  ]),
  ['provider is required', 'Agent', model({ name: 'm' }), false],
  ['provider is not empty', 'Agent', model({ provider: '', name: 'm' }), false],
  [
    'base_url is required for vendor_b-compatible',
    'Agent',
    model({ provider: 'vendor_b-compatible', name: 'm' }),
    false,
  ],
  [
    'base_url is allowed for vendor_b-compatible',
    'Agent',
    model({ provider: 'vendor_b-compatible', name: 'm', base_url: 'https://x/v1' }),
    true,
  ],
  ['base_url is not empty', 'Agent', model({ provider: 'vendor_b-compatible', name: 'm', base_url: '' }), false],
  [
    'temperature and top_p must not both be set',
    'Agent',
    agent(['spec', 'model', 'parameters'], { temperature: 1, top_p: 0.5 }),
    false,
  ],
  ['top_p may stand alone', 'Agent', agent(['spec', 'model', 'parameters'], { top_p: 0.5 }), true],
  ['top_p is a number', 'Agent', agent(['spec', 'model', 'parameters'], { top_p: '0.5' }), false],
  ['parameters may be empty', 'Agent', agent(['spec', 'model', 'parameters'], {}), true],
  ['instructions: text instead of ref', 'Agent', agent(['spec', 'instructions'], { text: 'Help.' }), true],
  ['instructions: text is not empty', 'Agent', agent(['spec', 'instructions'], { text: '' }), false],
  ['instructions: text is a string', 'Agent', agent(['spec', 'instructions'], { text: 1 }), false],
  ['instructions: not both', 'Agent', agent(['spec', 'instructions'], { ref: 'a.md', text: 'Help.' }), false],
  ['instructions: not neither', 'Agent', agent(['spec', 'instructions'], {}), false],
  [
    'auth: header is required when scheme is header',
    'Agent',
    agent(['spec', 'mcp_servers', 0, 'auth'], { scheme: 'header', secret: 'vendor' }),
    false,
  ],
  [
    'auth: header may be absent with bearer',
    'Agent',
    agent(['spec', 'mcp_servers', 0, 'auth'], { scheme: 'bearer', secret: 'vendor' }),
    true,
  ],
  [
    'auth: header is not empty',
    'Agent',
    agent(['spec', 'mcp_servers', 0, 'auth'], { scheme: 'header', secret: 'vendor', header: '' }),
    false,
  ],
  ['an MCP server needs name and url only', 'Agent', agent(['spec', 'mcp_servers'], [server]), true],
  ...['name', 'version', 'parameters', 'policy', 'agent'].map((key): Row => [
    `Authoring bindings must not set ${key}`,
    'Agent',
    agent(['spec', 'tools', 0, key], 'x'),
    false,
  ]),
  ...['Vendor', '1a', '_a', 'a.b', 'a b', ''].map((name): Row => [
    `Secret names match ^[a-z][a-z0-9_-]*$: not ${JSON.stringify(name)}`,
    'Agent',
    agent(['secrets'], { [name]: { fromEnv: 'K' } }),
    false,
  ]),
  ...['a', 'a1', 'a_b', 'a-b'].map((name): Row => [
    `Secret names match ^[a-z][a-z0-9_-]*$: ${name}`,
    'Agent',
    agent(['secrets'], { [name]: { fromEnv: 'K' } }),
    true,
  ]),
  ['Only fromEnv is supported', 'Agent', agent(['secrets'], { a: { value: 'secret' } }), false],
  ['A secret is no string', 'Agent', agent(['secrets'], { a: 'K' }), false],
  ['output is a sibling of spec, not nested in it', 'Agent', agent(['spec', 'output'], { format: 'json' }), false],
  ['secrets is a sibling of spec, not nested in it', 'Agent', agent(['spec', 'secrets'], {}), false],
  ...(['tools', 'agents', 'mcp_servers'] as const).flatMap((key): Row[] => [
    [`An entry of ${key} is an object, no string`, 'Agent', agent(['spec', key], ['x']), false],
    [`An entry of ${key} is an object with its required fields`, 'Agent', agent(['spec', key], [{}]), false],
  ]),
  ['A Policy may have an empty spec', 'Policy', changed(full.Policy, ['spec'], {}), true],
  ['A Tool may have an empty spec', 'Tool', changed(full.Tool, ['spec'], {}), true],
  ['A Bundle may not have an empty spec', 'Bundle', changed(full.Bundle, ['spec'], {}), false],
  [
    'A tool contract does not declare where the tool runs',
    'Tool',
    changed(full.Tool, ['spec', 'url'], 'https://x'),
    false,
  ],
  ['A Tool has no annotations', 'Tool', changed(full.Tool, ['metadata', 'annotations'], {}), false],
  ['A decision may have a type alone', 'Policy', changed(full.Policy, ['spec', 'decision'], { type: 'deny' }), true],
]

const all = [...documents, ...strays, ...together]

describe('the tables of the authoring format', () => {
  test('are proven by at least 300 documents, of both verdicts, each with a sentence of its own', () => {
    expect(all.length).toBeGreaterThanOrEqual(300)
    expect(new Set(all.map(([sentence]) => sentence)).size).toBe(all.length)
    expect(all.filter(([, , , valid]) => valid).length).toBeGreaterThan(100)
  })

  test.each(KINDS.map((kind) => [kind]))('a full %s is valid', (kind) => {
    expect(hasShape(schemaOf(kind), full[kind])).toBe(true)
  })

  test.each(all)('%s', (_, kind, document, valid) => {
    expect(hasShape(schemaOf(kind), document)).toBe(valid)
    expect(allows(kind, document)).toBe(valid)
  })

  test.each([...fields, ...beside])('the type of a field says the same as its examples: $says', (field) => {
    expect(field.good.map(field.accepts)).toEqual(field.good.map(() => true))
    expect(field.bad.map(field.accepts)).toEqual(field.bad.map(() => false))
  })

  test.each(all.filter(([, , , valid]) => !valid))('lint says what is wrong: %s', (_, __, document) => {
    expect(errorsOf(document)).toBeGreaterThan(0)
  })
})
