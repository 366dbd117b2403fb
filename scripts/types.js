// Writes schemas/documents.d.ts: the types of the documents, from the schemas beside it. `svc schema --types` prints it.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { compile } = createRequire(join(root, 'test/package.json'))('json-schema-to-typescript')
const KINDS = ['agent', 'tool', 'policy', 'bundle']

const LEFT_OUT = ['oneOf', 'allOf', 'if', 'then', 'else', 'not', '$id']

/** Conditions and exclusive pairs are checked by the linter; types of them would only be unions nobody can read. */
const plain = (value) => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  // What is said beside a reference would make another type of the same name.
  if (typeof value.$ref === 'string') return { $ref: value.$ref }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !LEFT_OUT.includes(key))
      .map(([key, each]) => [key, plain(each)]),
  )
}

const parts = []
for (const kind of KINDS) {
  const schema = plain(JSON.parse(readFileSync(`${root}/schemas/${kind}.schema.json`, 'utf8')))
  const { title } = schema
  // Each kind has helper types of the same names: a namespace keeps them apart.
  const text = await compile({ ...schema, title }, title, {
    bannerComment: '',
    format: true,
    style: { semi: false, singleQuote: true, printWidth: 120 },
  })
  const plural = `${title.replace(/y$/, 'ie')}s`
  parts.push(
    `export namespace ${plural} {\n${text.trimEnd().replaceAll(/^(?=.)/gm, '  ')}\n}\nexport type ${title} = ${plural}.${title}\n`,
  )
}
writeFileSync(
  join(root, 'schemas/documents.d.ts'),
  `/** The documents of svc/v1. Generated from the JSON Schemas; what spans fields and files is checked by svc lint. */\n${parts.join('\n')}\nexport type Document = ${KINDS.map((kind) => kind[0].toUpperCase() + kind.slice(1)).join(' | ')}\n`,
)
