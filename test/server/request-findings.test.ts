/** Whatever a request schema of an operation may refuse has a sentence: without one, a bad request would be answered 500. */
import type { ErrorObject } from 'ajv'
import { expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/json/json.ts'
import { findOperation, operations } from '../../src/operations/operations.ts'
import { object } from '../../src/operations/schema.ts'
import { firstPerPlace } from '../../src/server/http/findings.ts'

/** Keywords that refuse nothing. */
const SILENT = new Set(['description', 'properties', 'items', 'x-message', '$ref', 'additionalProperties'])

/** Schemas inside a schema, and itself. */
const schemasIn = (value: JsonValue): readonly JsonObject[] => {
  if (Array.isArray(value)) return value.flatMap(schemasIn)
  if (!isJsonObject(value)) return []
  const inner = Object.entries(value).flatMap(([key, each]) =>
    key === 'properties' && isJsonObject(each) ? Object.values(each).flatMap(schemasIn) : schemasIn(each),
  )
  return [value, ...inner]
}

const refusalOf = (schema: JsonObject, keyword: string): string => {
  const limit = schema[keyword] as number
  const params = { limit, type: schema['type'], allowedValues: schema['enum'], missingProperty: 'x' }
  const error = { keyword, params, parentSchema: schema, instancePath: '' } as unknown as ErrorObject
  const [finding] = firstPerPlace([error])
  return finding!.message
}

const routes = Object.keys(operations).flatMap((route) => {
  const { body, query } = findOperation(route)!
  const schemas = [
    ...(body !== undefined && body !== 'bytes' ? schemasIn(body.schema) : []),
    ...(query ? schemasIn(object(query).schema) : []),
  ]
  return schemas.length === 0 ? [] : [[route, schemas] as const]
})

test.each(routes)('%s refuses nothing without a sentence', (_, schemas) => {
  for (const schema of schemas)
    for (const keyword of Object.keys(schema).filter((each) => !SILENT.has(each)))
      expect(refusalOf(schema, keyword)).toMatch(/^(?:must|is) /)
})

test('a keyword without a sentence is noticed', () => {
  expect(() => refusalOf({ type: 'array', uniqueItems: true }, 'uniqueItems')).toThrow(
    'The schema keyword uniqueItems has no sentence.',
  )
})
