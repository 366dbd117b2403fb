/** GET /reference: the HTTP API as a page, for people who look at the operator's listener. */
import { createHash } from 'node:crypto'
import { readOpenApi } from '../http/openapi.ts'
import type { OperatorAction } from './people/act.ts'
import { escapeHtml } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue, objectOf, listOf } from '../../base/json/json.ts'
import { textAfterLast } from '../../base/text/text-parts.ts'

let page: Promise<string> | undefined

export const getReference: OperatorAction<'GET /reference'> = async () => ({
  status: 200,
  text: await (page ??= readOpenApi().then(writeReferencePage)),
  headers: HEADERS,
})

const REFERENCE_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 16%, transparent); --dim: color-mix(in srgb, currentColor 65%, transparent) }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem }
h1 { font-size: 1.5rem } h2 { margin-top: 2.5rem } h3 { font-size: 1rem; margin: 0 }
code, pre { font: 0.875em/1.45 ui-monospace, monospace; overflow-wrap: anywhere }
pre { border-left: 3px solid var(--line); overflow-x: auto; padding-left: 0.75rem }
section { border-top: 1px solid var(--line); padding: 0.75rem 0; scroll-margin-top: 1rem }
table { border-collapse: collapse; width: 100% }
td, th { border-bottom: 1px solid var(--line); padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top }
th { color: var(--dim); font-size: 0.8125rem; font-weight: 500 }
tr:last-child td { border-bottom: 0 }
small, summary { color: var(--dim) }
h3 code { font-weight: 650 }
a { color: light-dark(#1d4ed8, #93b4ff); text-decoration: none } a:hover, a:focus { text-decoration: underline }
@media (max-width: 45rem) { table { display: block; overflow-x: auto } td:last-child { min-width: 12rem } }
nav ul { columns: 20rem; list-style: none; padding: 0 }
`
const METHODS = ['get', 'post', 'put', 'patch', 'delete']
const MARK = ' <small>(extension)</small>'

export function writeReferencePage(document: JsonObject): string {
  const info = objectOf(document['info'])
  const operations = Object.entries(objectOf(document['paths'])).flatMap(([path, item]) =>
    METHODS.filter((method) => isJsonObject(objectOf(item)[method])).map((method) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation: objectOf(objectOf(item)[method]),
      shared: listOf(objectOf(item)['parameters']),
      isExtension: objectOf(item)['x-svc-extension'] === true,
    })),
  )
  const schemas = Object.entries(objectOf(objectOf(document['components'])['schemas']))
  const resolve = (part: JsonValue | undefined): JsonObject => resolvePart(document, objectOf(part))
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${text(info['title'])}</title>
<style>${REFERENCE_STYLE}</style>
<h1>${text(info['title'])}</h1>
<p>${prose(info['description'])}</p>
<nav><ul>${operations.map(({ title, operation }) => `<li><a href="#${text(operation['operationId'])}"><code>${escapeHtml(title)}</code></a>`).join('')}</ul></nav>
<main>
<h2>Routes</h2>
${operations.map((each) => operationOf(each, resolve)).join('\n')}
<h2>Bodies</h2>
${schemas.map(([name, schema]) => schemaSection(name, objectOf(schema), resolve)).join('\n')}
</main>
</html>
`
}

type Resolve = (part: JsonValue | undefined) => JsonObject

interface ShownOperation {
  readonly title: string
  readonly operation: JsonObject
  readonly shared: readonly JsonValue[]
  readonly isExtension: boolean
}

function operationOf({ title, operation, shared, isExtension }: ShownOperation, resolve: Resolve): string {
  const parameters = [...shared, ...listOf(operation['parameters'])].map(resolve)
  const body = resolve(operation['requestBody'])
  const answers = Object.entries(objectOf(operation['responses'])).map(
    ([status, answer]) => [status, resolve(answer)] as const,
  )
  return [
    `<section id="${text(operation['operationId'])}"><h3><code>${escapeHtml(title)}</code>${isExtension ? MARK : ''}</h3>`,
    `<p>${prose(operation['summary'])}. ${prose(operation['description'])}</p>`,
    parameters.length > 0 &&
      table(
        ['Parameter', 'In', 'Type', 'Description'],
        parameters.map((each) => [
          `<code>${text(each['name'])}</code>${each['x-svc-extension'] === true ? MARK : ''}`,
          text(each['in']),
          typeOf(objectOf(each['schema'])),
          prose(each['description'] ?? resolve(each['schema'])['description']),
        ]),
      ),
    isJsonObject(body['content']) && `<p>Body: ${contentOf(body)}</p>${examplesOf(body, resolve)}`,
    table(
      ['Status', 'Answer', 'Body'],
      answers.map(([status, answer]) => [status, prose(answer['description']), contentOf(answer)]),
    ),
    answers
      .filter(([status]) => status < '300')
      .map(([, answer]) => examplesOf(answer, resolve))
      .join(''),
    '</section>',
  ]
    .filter((part) => part !== false)
    .join('\n')
}

const mediaTypesOf = (part: JsonObject): readonly (readonly [string, JsonObject])[] =>
  Object.entries(objectOf(part['content'])).map(([type, media]) => [type, objectOf(media)])

const contentOf = (part: JsonObject): string =>
  mediaTypesOf(part)
    .map(([type, { schema }]) => `${typeOf(objectOf(schema))} <small>${escapeHtml(type)}</small>`)
    .join(', ')

const examplesOf = (part: JsonObject, resolve: Resolve): string =>
  mediaTypesOf(part)
    .flatMap(([, { examples }]) => Object.values(objectOf(examples)).map(resolve))
    .map(({ summary, value }) => `<details><summary>Example: ${prose(summary)}</summary>${preOf(value)}</details>`)
    .join('')

const preOf = (value: JsonValue | undefined): string =>
  `<pre>${escapeHtml(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}</pre>`

function schemaSection(name: string, schema: JsonObject, resolve: Resolve): string {
  const parts = schema['allOf'] === undefined ? [schema] : listOf(schema['allOf']).map(objectOf)
  const bases = parts.filter(({ $ref }) => $ref !== undefined).map(typeOf)
  const own = parts.find(({ properties }) => properties !== undefined)
  const required = new Set(listOf(own?.['required']))
  const rows = Object.entries(objectOf(own?.['properties'])).map(([field, each]) => [
    `<code>${escapeHtml(field)}</code>${objectOf(each)['x-svc-extension'] === true ? MARK : ''}`,
    typeOf(objectOf(each)),
    required.has(field) ? 'yes' : 'no',
    prose(objectOf(each)['description'] ?? resolve(each)['description']),
  ])
  const mapping = objectOf(objectOf(schema['discriminator'])['mapping'])
  const variants = Object.entries(mapping).map(([value, ref]) => [
    `<code>${escapeHtml(value)}</code>`,
    typeOf({ $ref: ref }),
  ])
  return [
    `<section id="${escapeHtml(name)}"><h3><code>${escapeHtml(name)}</code>${schema['x-svc-extension'] === true ? MARK : ''}</h3>`,
    `<p>${prose(schema['description'])}</p>`,
    bases.length > 0 && `<p>The fields of ${bases.join(' and ')}${own ? ', and:' : '.'}</p>`,
    rows.length > 0 && table(['Field', 'Type', 'Required', 'Description'], rows),
    variants.length > 0 && table([text(objectOf(schema['discriminator'])['propertyName']), 'Shape'], variants),
    '</section>',
  ]
    .filter((part) => part !== false)
    .join('\n')
}

/** The type of a value, with links to the schemas of the page. */
function typeOf(schema: JsonObject): string {
  const { $ref, type, format, items, enum: values, const: only, 'x-extensible-enum': words } = schema
  if (typeof $ref === 'string') {
    const name = escapeHtml(textAfterLast($ref, '/'))
    return `<a href="#${name}">${name}</a>`
  }
  if (only !== undefined) return `<code>${escapeHtml(JSON.stringify(only))}</code>`
  if (values !== undefined || words !== undefined) {
    const shown = listOf(values ?? words).map(
      (each) => `<code>${escapeHtml(typeof each === 'string' ? each : JSON.stringify(each))}</code>`,
    )
    return `${shown.join(', ')}${words === undefined ? '' : ', …'}`
  }
  if (type === 'array') return `array of ${typeOf(objectOf(items))}`
  if (type === undefined) return 'JSON'
  const word = Array.isArray(type) ? type.map(text).join(' or ') : text(type)
  return typeof format === 'string' ? `${word} (${escapeHtml(format)})` : word
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<table><thead><tr>${head.map((cell) => `<th scope="col">${cell}`).join('')}</thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${cell}`).join('')}`)
    .join('')}</tbody></table>`

/** A text with its code marked. */
const prose = (value: JsonValue | undefined): string => text(value).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? escapeHtml(value.trim()) : '')

/** The part that a reference names, or the part itself. */
const resolvePart = (document: JsonObject, part: JsonObject): JsonObject =>
  typeof part['$ref'] === 'string'
    ? part['$ref']
        .slice(2)
        .split('/')
        .reduce<JsonObject>((at, key) => objectOf(at[key]), document)
    : part

const STYLE_DIGEST = createHash('sha256').update(REFERENCE_STYLE).digest('base64')

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  // The page loads and runs nothing; its only style is allowed by digest.
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_DIGEST}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
}
