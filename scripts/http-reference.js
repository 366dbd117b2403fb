// Writes docs/http-reference.md, the reference page of the HTTP interface, from schemas/openapi.yaml.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { formatGenerated } from './format-generated.js'
import { aboutOf, code, createTypeWords, row, table } from './reference-parts.js'
import { writeGenerated } from './write-generated.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const api = parse(readFileSync(`${root}/schemas/openapi.yaml`, 'utf8'))
const { schemas } = api.components

const nameOf = (ref) => ref.split('/').at(-1)
const resolve = (part) =>
  part.$ref === undefined
    ? part
    : part.$ref
        .slice(2)
        .split('/')
        .reduce((at, key) => at[key], api)
const link = (name) => `[${name}](#${name.toLowerCase()})`
const typeOf = createTypeWords(link)
const EXTENSION = ' _Extension._'
const extension = (part) => (part['x-svc-extension'] ? EXTENSION : '')

/* Fields */

const fieldsOf = ({ properties, required = [] }) =>
  table(
    ['Field', 'Type', 'Required', 'Description'],
    Object.entries(properties).map(([name, schema]) =>
      row(code(name), typeOf(schema), required.includes(name) ? 'yes' : 'no', aboutOf(schema) + extension(schema)),
    ),
  )

/** What a schema may be, by the values of its discriminator. */
const variantsOf = ({ discriminator }) => {
  if (discriminator === undefined) return []
  const names = new Set(Object.values(discriminator.mapping).map(nameOf))
  const valuesOf = (name) => Object.entries(discriminator.mapping).filter(([, ref]) => nameOf(ref) === name)
  const rows = [...names].map((name) =>
    row(
      valuesOf(name)
        .map(([value]) => code(value))
        .join(', '),
      link(name),
    ),
  )
  return [table([code(discriminator.propertyName), 'Shape'], rows)]
}

const sectionOf = (name, schema) => {
  const parts = schema.allOf ?? [schema]
  const own = parts.find(({ properties }) => properties !== undefined)
  const bases = parts.filter(({ $ref }) => $ref !== undefined).map(typeOf)
  const above = bases.length === 0 ? [] : [`The fields of ${bases.join(' and ')}${own ? ', and:' : '.'}`]
  const closed = schema.additionalProperties === false ? ['Other fields are refused.'] : []
  const body = own === undefined ? variantsOf(schema) : [fieldsOf(own)]
  return [`### ${name}`, aboutOf(schema), ...above, ...body, ...closed].filter((each) => each !== '').join('\n\n')
}

/* Operations */

const contentOf = (content) =>
  Object.entries(content ?? {})
    .map(([type, { schema }]) => `${typeOf(schema)}${type === 'application/json' ? '' : ` as ${code(type)}`}`)
    .join(', ')

const operationOf = (path, method, item) => {
  const { summary, description, parameters = [], requestBody, responses, security, ...rest } = item[method]
  const all = [...(item.parameters ?? []), ...parameters].map(resolve)
  const where = { path: 'path', query: 'query', header: 'header' }
  const body = requestBody && resolve(requestBody)
  const good = Object.entries(responses).filter(([status]) => status < 300)
  const bad = Object.keys(responses).filter((status) => status >= 400)
  return [
    `### ${method.toUpperCase()} ${path}`,
    `${summary}.${description === undefined ? '' : ` ${description.trim()}`}${extension({ ...item, ...rest })}${security?.length === 0 ? ' No key is needed.' : ''}`,
    ...(all.length === 0
      ? []
      : [
          table(
            ['Parameter', 'In', 'Type', 'Description'],
            all.map((each) =>
              row(
                code(each.name),
                where[each.in],
                typeOf(each.schema),
                [aboutOf(each), aboutOf(each.schema)].filter((text) => text !== '').join(' ') + extension(each),
              ),
            ),
          ),
        ]),
    ...(body === undefined ? [] : [`Body: ${contentOf(body.content)}${body.required ? '' : ', may be left out'}.`]),
    good
      .map(
        ([status, { description: what, content }]) =>
          `Answers **${status}** ${what}${content ? `: ${contentOf(content)}` : ''}.`,
      )
      .join(' '),
    ...(bad.length === 0 ? [] : [`Refusals: ${bad.join(', ')}.`]),
  ].join('\n\n')
}

const METHODS = ['get', 'post', 'patch', 'delete']
const operations = Object.entries(api.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => operationOf(path, method, item)),
)

const page = `# HTTP reference

The ${api.info.title}, route by route. This page is written from \`schemas/openapi.yaml\`, which a server gives as
\`GET /v1/openapi.json\` and \`svc openapi\` prints. What is marked as an extension goes beyond the interface's source document; a client that
ignores it loses nothing.

Every request needs the header \`X-API-Key\`, unless it says otherwise; every answer has \`X-Request-Id\`. Every refusal has the body
${link('ErrorBody')}. Besides those named with a route there are 404 for a path that is none and 405, with \`Allow\`, for a method that a path does
not have.

## Routes

${operations.join('\n\n')}

## Bodies

${Object.entries(schemas)
  .map(([name, schema]) => sectionOf(name, schema))
  .join('\n\n')}
`
writeGenerated('docs/http-reference.md', await formatGenerated('docs/http-reference.md', page))
