// Writes src/documents/generated/ and src/tools/generated/: the validators of schemas/ and of JSON Schema as plain code, and the tables of known keys and of notes for lint.
// Linting then starts without a schema compiler.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
const { Ajv2020 } = require('ajv/dist/2020.js')
const standalone = require('ajv/dist/standalone/index.js').default

const NAMES = ['agent', 'tool', 'policy', 'bundle', 'config', 'scenario', 'policytest', 'evalcase']
/** JSON Schema 2020-12 in one piece, in place of eight that follow one another for every schema in a schema. */
const META = 'meta'
const metaSchema = () => {
  const parts = ['schema', ...VOCABULARIES.map((name) => `meta/${name}`)].map((name) =>
    require(`ajv/dist/refs/json-schema-2020-12/${name}.json`),
  )
  const [properties, $defs] = ['properties', '$defs'].map((key) => Object.assign({}, ...parts.map((part) => part[key])))
  const whole = { type: ['object', 'boolean'], properties, $defs }
  return JSON.parse(JSON.stringify(whole).replaceAll(/"\$(?:dynamicRef":"#meta|ref":"meta\/[a-z-]+#)/g, '"$ref":"#'))
}
const VOCABULARIES = ['core', 'applicator', 'unevaluated', 'validation', 'meta-data', 'format-annotation', 'content']

/**
 * Branches of an `anyOf` differ in type: strict compilers refuse a schema of several types. Here they are one again, so that a
 * wrong type is one error, which names all that may stand there.
 */
const joined = (value) => {
  if (Array.isArray(value)) return value.map(joined)
  if (typeof value !== 'object' || value === null) return value
  const { anyOf, ...whole } = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, joined(each)]))
  return anyOf === undefined ? whole : Object.assign(whole, ...anyOf, { type: anyOf.map(({ type }) => type) })
}

/**
 * Definitions that refer to others stand where they are referred to: the errors of a definition that ajv compiles as a function of
 * its own have paths that begin there, so two definitions could not be told apart.
 */
const withDefinitions = (value, defs, inside = []) => {
  if (Array.isArray(value)) return value.map((each) => withDefinitions(each, defs, inside))
  if (typeof value !== 'object' || value === null) return value
  const { $ref, ...beside } = value
  const name = $ref?.split('/').pop()
  if (name !== undefined && !inside.includes(name) && JSON.stringify(defs[name]).includes('"$ref"'))
    return { ...withDefinitions(defs[name], defs, [...inside, name]), ...beside }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withDefinitions(each, defs, inside)]))
}

/** Keywords of schemas/ for lint alone; no validator and no published schema has them. */
const NOTES = {
  'x-message': 'message',
  'x-fix': 'fix',
  'x-text-key': 'textKey',
  'x-confirm': 'confirm',
  'x-alternatives': 'alternatives',
}

/** Marks what the format leaves open and svc reads: a key of its own that authors may write, like any other. */
const EXTENSION = 'x-svc-extension'

/** Takes the notes out of a schema. Returns them by the path of the schema that has them. */
const takeNotes = (value, path = '#', into = {}) => {
  if (typeof value !== 'object' || value === null) return into
  const note = {}
  for (const [keyword, name] of Object.entries(NOTES)) {
    if (value[keyword] !== undefined) note[name] = value[keyword]
    delete value[keyword]
  }
  const alternatives = Array.isArray(value.oneOf) ? value.oneOf.flatMap(({ required = [] }) => required) : []
  if (alternatives.length > 0) note.alternatives ??= alternatives
  if (Object.keys(note).length > 0) into[path] = note
  for (const [key, each] of Object.entries(value)) takeNotes(each, `${path}/${key}`, into)
  return into
}

const schemas = Object.fromEntries(
  NAMES.map((name) => {
    const schema = joined(JSON.parse(readFileSync(`${root}/schemas/${name}.schema.json`, 'utf8')))
    return [name, withDefinitions(schema, schema.$defs)]
  }),
)
const notes = Object.fromEntries(NAMES.map((name) => [name, takeNotes(schemas[name])]))
const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  allErrors: true,
  code: { source: true, esm: true, lines: false },
})
ajv.addKeyword(EXTENSION)
for (const name of NAMES) ajv.addSchema(schemas[name], name)
ajv.addMetaSchema(metaSchema(), META)

/** One function a file: who reads a configuration needs none of the others. */
const codeOf = async (name) => {
  const standing = standalone(ajv, ajv.getSchema(name))
  // Whether a text has any letter at all is known without counting its letters.
  const contents = standing.replaceAll(/\bfunc\d+\((data\d*)\) < 1\b/g, '$1.length < 1')
  // The output asks for ajv's runtime with `require`: bundled, it needs nothing.
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'js' },
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['main'],
    minifySyntax: true,
    write: false,
  })
  return outputFiles[0].text
}

/** Property names that each mapping of a document may have, by dotted path (`*` for members of lists and maps). */
const keysOf = (schema, defs = schema.$defs ?? {}, path = '', into = {}) => {
  const { $ref, properties, items, additionalProperties } = schema
  if ($ref !== undefined) return keysOf(defs[$ref.split('/').pop()], defs, path, into)
  const below = (key) => (path === '' ? key : `${path}.${key}`)
  const own = Object.keys(properties ?? {}).filter((key) => properties[key][EXTENSION] === undefined)
  // Beside extensions, authors choose the keys.
  if (own.length > 0 || Object.keys(properties ?? { none: {} }).length === 0) into[path] = own
  for (const [key, value] of Object.entries(properties ?? {})) keysOf(value, defs, below(key), into)
  if (items !== undefined) keysOf(items, defs, below('*'), into)
  if (typeof additionalProperties === 'object') keysOf(additionalProperties, defs, below('*'), into)
  return into
}
const keys = Object.fromEntries(NAMES.map((name) => [name, keysOf(schemas[name])]))

/** What an editor tells about each field, by the same paths. */
const fieldsOf = (schema, defs = schema.$defs ?? {}, path = '', required = false, into = {}) => {
  const { $ref, ...beside } = schema
  const {
    description,
    type,
    enum: values,
    const: only,
    default: usual,
    examples,
    properties,
    items,
    additionalProperties,
    oneOf,
    anyOf,
    required: needed = [],
  } = $ref === undefined ? schema : { ...defs[$ref.split('/').pop()], ...beside }
  const below = (key) => (path === '' ? key : `${path}.${key}`)
  const allowed = values ?? (only === undefined ? (type === 'boolean' ? [true, false] : undefined) : [only])
  into[path] ??= {
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type: [type].flat().join(' or ') }),
    ...(allowed !== undefined && { values: allowed.map(String) }),
    ...(examples !== undefined && { examples: examples.map(String) }),
    ...(usual !== undefined && { default: String(usual) }),
    ...(required && { required }),
  }
  for (const [key, value] of Object.entries(properties ?? {}))
    fieldsOf(value, defs, below(key), needed.includes(key), into)
  if (items !== undefined) fieldsOf(items, defs, below('*'), false, into)
  if (typeof additionalProperties === 'object') fieldsOf(additionalProperties, defs, below('*'), false, into)
  for (const branch of [...(oneOf ?? []), ...(anyOf ?? [])])
    if (branch.properties !== undefined) fieldsOf(branch, defs, path, false, into)
  return into
}
const fields = Object.fromEntries(NAMES.map((name) => [name, fieldsOf(schemas[name])]))

const directory = `${root}/src/documents/generated`
mkdirSync(directory, { recursive: true })
mkdirSync(`${directory}/validators`, { recursive: true })
const writeValidator = async (path, name) => {
  writeFileSync(`${path}.js`, await codeOf(name))
  writeFileSync(
    `${path}.d.ts`,
    `import type { ErrorObject } from 'ajv'

export declare const validate: {
  (value: unknown): boolean
  errors?: readonly ErrorObject[] | null
}
`,
  )
}
mkdirSync(`${root}/src/tools/generated`, { recursive: true })
await Promise.all([
  ...NAMES.map((name) => writeValidator(`${directory}/validators/${name}`, name)),
  // The runtime checks foreign schemas with it, lint those of authors.
  writeValidator(`${root}/src/tools/generated/meta-schema`, META),
])
writeFileSync(`${directory}/notes.js`, `export const notes = ${JSON.stringify(notes, null, 2)}\n`)
writeFileSync(
  `${directory}/notes.d.ts`,
  `/** What a schema tells lint besides its constraints. */
export interface SchemaNote {
  /** Where a constraint is broken that has no message of its own; \`{path}\` and \`{key}\` stand for what is written. */
  readonly message?: string
  readonly fix?: string
  /** The key of a mapping that a string written in its place means. */
  readonly textKey?: string
  /** Words that decide what is allowed: a person confirms a correction. */
  readonly confirm?: true
  /** The properties of which exactly one is required. */
  readonly alternatives?: readonly string[]
}
/** By schema, then by the path of the part that has the note. */
export declare const notes: Readonly<Record<${NAMES.map((name) => `'${name}'`).join(' | ')}, Readonly<Record<string, SchemaNote>>>>
`,
)
writeFileSync(`${directory}/keys.js`, `export const keys = ${JSON.stringify(keys, null, 2)}\n`)
writeFileSync(
  `${directory}/keys.d.ts`,
  `/** By schema, then by dotted path: the property names that a mapping may have. */
export declare const keys: Readonly<Record<${NAMES.map((name) => `'${name}'`).join(' | ')}, Readonly<Record<string, readonly string[]>>>>\n`,
)
writeFileSync(`${directory}/fields.js`, `export const fields = ${JSON.stringify(fields, null, 2)}\n`)
writeFileSync(
  `${directory}/fields.d.ts`,
  `export interface Field {
  readonly description?: string
  readonly type?: string
  /** All that may stand there. */
  readonly values?: readonly string[]
  readonly examples?: readonly string[]
  readonly default?: string
  readonly required?: true
}
/** By schema, then by dotted path, \`*\` for members of lists and maps. */
export declare const fields: Readonly<Record<${NAMES.map((name) => `'${name}'`).join(' | ')}, Readonly<Record<string, Field>>>>
`,
)
