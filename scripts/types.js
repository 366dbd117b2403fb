// Writes schemas/documents.d.ts: the types of the documents, from the schemas beside it. `svc schema --types` prints it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatGenerated } from './format-generated.js'
import { createTypeWriter } from './type-writer.js'
import { writeGenerated } from './write-generated.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const KINDS = ['agent', 'tool', 'policy', 'bundle']

const LEFT_OUT = ['oneOf', 'allOf', 'if', 'then', 'else', 'not', '$id']

/** Conditions and exclusive pairs are checked by the linter; types of them would only be unions nobody can read. */
const plain = (value) => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !LEFT_OUT.includes(key))
      .map(([key, each]) => [key, plain(each)]),
  )
}

const upper = (name) => name[0].toUpperCase() + name.slice(1)
const { declarationOf } = createTypeWriter((ref) => upper(ref.split('/').at(-1)))

const parts = KINDS.map((kind) => {
  const { $defs = {}, ...schema } = plain(JSON.parse(readFileSync(join(root, `schemas/${kind}.schema.json`), 'utf8')))
  const { title } = schema
  // Each kind has helper types of the same names: a namespace keeps them apart.
  const plural = `${title.replace(/y$/, 'ie')}s`
  const declarations = Object.entries({ ...$defs, [title]: schema }).map(([name, each]) =>
    declarationOf(upper(name), each),
  )
  return `export namespace ${plural} {\n${declarations.join('\n')}\n}\nexport type ${title} = ${plural}.${title}\n`
})
const text = [
  '/** The documents of svc/v1. Generated from the JSON Schemas; what spans fields and files is checked by svc lint. */',
  'export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }',
  'export type JsonObject = { [key: string]: JsonValue }\n',
  ...parts,
  `export type Document = ${KINDS.map(upper).join(' | ')}\n`,
].join('\n')
const file = 'schemas/documents.d.ts'
writeGenerated(file, await formatGenerated(file, text))
