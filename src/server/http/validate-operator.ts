/**
 * Validates bodies and queries of operator routes against `operations/`. Their checks are half of the server's code, and loaded with the
 * first request. They stop at the first error; what finds every error of a refused request is compiled for it.
 * Source: docs/design/http.md#bodies-and-errors
 */
import { queryTypes } from '../generated/query-types.js'
import { refuseValue } from './check.ts'
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
  const { findWholeCheck } = await import('./whole-check.ts')
  return refuseValue(value, errors, await findWholeCheck(route, part), `The ${part} is not valid`)
}

const isNameIn = (checks: Checks, name: string): name is keyof Checks => Object.hasOwn(checks, name)
