/**
 * The check that finds every error of a request that an operator's route refuses. Loaded with the first refusal, since few requests need it.
 * Source: docs/design/http.md#bodies-and-errors
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isUuid } from '../../base/ids.ts'
import { findOperation } from '../../operations/operations.ts'
import { object } from '../../operations/schema.ts'
import type { Check } from './check.ts'
import { readOpenApi } from './openapi.ts'

/** By route and part: those that were refused once. */
const compiled = new Map<string, Promise<Check>>()

/** The check of a part of a route's request, compiled once. */
export function findWholeCheck(route: string, part: 'body' | 'query'): Promise<Check> {
  const name = `${route} ${part}`
  const check = compiled.get(name) ?? compile(route, part)
  compiled.set(name, check)
  return check
}

/** Formats and keywords are those of `scripts/openapi.js`, which writes the checks that stop at the first error. */
async function compile(route: string, part: 'body' | 'query'): Promise<Check> {
  const { body, query = {} } = findOperation(route) ?? {}
  const schema = part === 'query' ? object(query).schema : body !== 'bytes' && body?.schema
  if (!schema) throw new Error(`${route} has no ${part} to check.`)
  // A body of the API's is named by its place in the API's document.
  const named = JSON.stringify(schema).includes('"$ref"') ? { components: (await readOpenApi())['components'] } : {}
  return new Ajv2020({
    allErrors: true,
    verbose: true,
    strict: false,
    formats: { uuid: isUuid, int64: true },
  }).compile({ ...schema, ...named })
}
