// Writes docs/operator-reference.md, the reference page of the operator application, from src/operations/.
import { formatGenerated } from './format-generated.js'
import { readOperations } from './read-operations.js'
import { aboutOf, code, createTypeWords, row, table } from './reference-parts.js'
import { writeGenerated } from './write-generated.js'

const typeOf = createTypeWords((name) => `[${name}](http-reference.md#${name.toLowerCase()})`)

/** The fields of a schema and those inside them: `items[].refused.at`. */
const fieldsIn = (schema, path = '') => {
  if (schema.items) return fieldsIn(schema.items, `${path}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    return [{ at, field, isRequired: schema.required?.includes(name) === true }, ...fieldsIn(field, at)]
  })
}

const requestTable = (title, schema) => {
  const fields = fieldsIn(schema)
  if (fields.length === 0) return []
  const rows = fields.map(({ at, field, isRequired }) =>
    row(code(at), typeOf(field), isRequired ? 'yes' : 'no', aboutOf(field)),
  )
  return [table([title, 'Type', 'Required', 'Description'], rows)]
}

/** The shape of an answer, and what is to be said of its fields. */
const answerOf = ({ answer, shape }) => {
  if (answer === 'stream') return ['Answers no JSON document.']
  const said = fieldsIn(answer).filter(({ field }) => field.description !== undefined)
  const rows = said.map(({ at, field }) => row(code(at), typeOf(field), aboutOf(field)))
  const name = answer.$ref && typeOf(answer)
  return [
    `Answers ${name ?? (shape === '' ? 'a JSON document' : code(shape))}.`,
    ...(rows.length === 0 ? [] : [table(['Field', 'Type', 'Description'], rows)]),
  ]
}

const sections = (await readOperations()).map(({ route, about, body, query, ...answer }) =>
  [
    `## ${route}`,
    ...(about === undefined ? [] : [about]),
    ...(query ? requestTable('Query', query) : []),
    ...(body === 'bytes' ? ['The body is the bytes.'] : body?.$ref ? [`Body: ${typeOf(body)}.`] : []),
    ...(body?.properties ? requestTable('Body', body) : []),
    ...answerOf(answer),
  ].join('\n\n'),
)

const page = `# Operator reference

What operators may ask of a server, route by route: over the Unix socket \`admin.sock\` in its data directory, which \`svc\` uses by itself, and
with a credential (\`X-Operator-Key\`) at the listener of the console. Whoever gets that far is an operator and may ask for each. The
routes under \`/v1\` are served there too ([HTTP reference](http-reference.md)). \`svc openapi --operator\` prints all of it as an OpenAPI
document. It belongs to the version of the server, and may change with the
next one.

In a path \`:id\` is an id. What a request holds beyond its fields is ignored. Refusals have the body
[ErrorBody](http-reference.md#errorbody). In a shape, a question mark follows the name of a field that may be absent.

${sections.join('\n\n')}
`
writeGenerated('docs/operator-reference.md', await formatGenerated('docs/operator-reference.md', page))
