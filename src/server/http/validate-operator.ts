/**
 * Validates bodies and queries of operator routes against `operations/`. Their checks are half of the server's code, and loaded with the
 * first request. They stop at the first error; what finds every error of a refused request is compiled for it.
 * Source: docs/design/http.md#bodies-and-errors
 */
import { isUuid } from '../../base/ids.ts'
import { findOperation } from '../../operations/operations.ts'
import { object } from '../../operations/schema.ts'
import { queryTypes } from '../generated/query-types.js'
import { refuseValue, type Check } from './check.ts'
import { readOpenApi } from './openapi.ts'
import { queryBoolean, queryInteger } from './query-values.ts'

type Checks = typeof import('../generated/operator-first.js').checks

/** An absent body is an empty object. A route without a body ignores it. */
export async function parseOperatorBody(route: string, body: unknown = {}): Promise<unknown> {
  return await check(route, 'body', body)
}

/** Of a parameter that is given twice the first counts. A route without parameters ignores them. */
export async function parseOperatorQuery(route: string, query: URLSearchParams): Promise<unknown> {
  const given = Object.fromEntries([...query].reverse())
  for (const [key, type] of Object.entries(queryTypes[route] ?? {}))
    Object.assign(given, type === 'integer' ? queryInteger(query, key) : queryBoolean(query, key))
  return (await check(route, 'query', given)) ?? {}
}

/**
 * The value, or undefined where the route has no such check.
 * @throws Failure `validation_failed`
 */
async function check(route: string, part: 'body' | 'query', value: unknown): Promise<unknown> {
  const { checks } = await import('../generated/operator-first.js')
  const name = `${route} ${part}`
  if (!isNameIn(checks, name)) return undefined
  if (checks[name](value)) return value
  // Read before anything else is checked meanwhile.
  const { errors } = checks[name]
  return refuseValue(value, errors, await compileWhole(route, part), `The ${part} is not valid`)
}

const isNameIn = (checks: Checks, name: string): name is keyof Checks => Object.hasOwn(checks, name)

/** Formats and keywords are those of `scripts/openapi.js`, which writes the checks that stop at the first error. */
async function compileWhole(route: string, part: 'body' | 'query'): Promise<Check> {
  const { body, query = {} } = findOperation(route) ?? {}
  const schema = part === 'query' ? object(query).schema : body !== 'bytes' && body?.schema
  if (!schema) throw new Error(`${route} has no ${part} to check.`)
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  // A body of the API's is named by its place in the API's document.
  const named = JSON.stringify(schema).includes('"$ref"') ? { components: (await readOpenApi())['components'] } : {}
  return new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    formats: { uuid: isUuid, int64: true },
  }).compile({ ...schema, ...named })
}
