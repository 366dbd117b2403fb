import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { valueAt } from '../../src/base/json/resolve-pointer.ts'
import { operatorDocument } from '../../src/operations/operator-document.ts'
import { operations } from '../../src/operations/operations.ts'
import { openApi } from '../api/document.ts'

type Described = Readonly<Record<string, JsonValue>> & { readonly operationId: string }

const document = operatorDocument(openApi as unknown as JsonObject)
const described = Object.entries(document['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>)

test('every operation is described, under an id of its own', () => {
  const routes = described.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
  )
  expect(routes.toSorted()).toEqual(Object.keys(operations).toSorted())
  const ids = described.flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId))
  expect(new Set(ids).size).toBe(ids.length)
})

test('says what a route takes, what it answers, and how it refuses', () => {
  expect(document['paths']).toMatchObject({
    '/triggers/{id}': {
      patch: {
        operationId: 'patchTriggersById',
        tags: ['triggers'],
        summary: 'PATCH /triggers/:id',
        description: 'What is absent stays as it is.',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: operations['PATCH /triggers/:id'].body.schema } },
        },
        responses: {
          '200': { content: { 'application/json': { schema: operations['PATCH /triggers/:id'].answer.schema } } },
          '4XX': { content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } } },
        },
      },
    },
    '/files': { post: { requestBody: { content: { 'application/octet-stream': {} } } } },
    '/logs': { get: { responses: { '200': { content: { '*/*': {} } } } } },
  })
})

test('every reference leads to a schema of the document', () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, pointer]) => pointer!)
  expect(references.filter((pointer) => valueAt(document, pointer) === undefined)).toEqual([])
  expect(new Set(references).size).toBeGreaterThan(10)
})
