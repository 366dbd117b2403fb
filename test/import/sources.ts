/** Documents in the shapes of large public ones. */
import type { JsonObject } from '../../src/base/json/json.ts'

const text = { type: 'string' }

/** Small, with tags, a body, references and two security schemes. */
export const petstore = (): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'Petstore API', version: '1.0' },
  servers: [{ url: 'https://pets.example/{stage}', variables: { stage: { default: 'v2' } } }],
  security: [{ api_key: [] }],
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        tags: ['pets'],
        summary: 'Lists pets.',
        parameters: [
          { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 100 } },
          {
            name: 'filter',
            in: 'query',
            style: 'deepObject',
            explode: true,
            schema: { type: 'object', properties: { kind: text } },
          },
        ],
      },
      post: {
        operationId: 'createPet',
        tags: ['pets'],
        summary: 'Adds a pet.',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
        },
      },
    },
    '/pets/{petId}': {
      parameters: [{ $ref: '#/components/parameters/PetId' }],
      get: { operationId: 'getPet', tags: ['pets'], summary: 'Reads a pet.', security: [] },
      delete: {
        operationId: 'deletePet',
        tags: ['admin'],
        summary: 'Removes a pet.',
        security: [{ basic: [] }, { api_key: [] }],
      },
    },
  },
  components: {
    parameters: { PetId: { name: 'petId', in: 'path', required: true, schema: { type: 'string', maxLength: 40 } } },
    schemas: {
      Pet: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'string', readOnly: true },
          name: { type: 'string', maxLength: 80, description: 'Its\u200b name.' },
          age: { type: 'integer', minimum: 0, exclusiveMinimum: true, nullable: true },
        },
        additionalProperties: false,
      },
    },
    securitySchemes: {
      api_key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
      basic: { type: 'http', scheme: 'basic' },
    },
  },
})

/** As many operations as the largest public documents. */
export function manyOperations(count: number): JsonObject {
  const paths: JsonObject = {}
  for (let at = 0; at < count; at++)
    paths[`/repos/{owner}/things${at}/{id}`] = {
      get: {
        operationId: `things${at}/get-by-a-rather-long-name-for-the-owner-of-the-repository-and-everything-in-it-${at}`,
        tags: [at % 2 === 0 ? 'even' : 'odd'],
        summary: 'Gets a thing. '.repeat(200),
        parameters: [{ name: 'per_page', in: 'query', schema: { type: 'integer', default: 30 } }],
      },
    }
  return { openapi: '3.1.0', info: { title: 'Hub', version: '1' }, servers: [{ url: 'https://hub.example' }], paths }
}

/** Resources that expand each other without end, and unions of all of them at every level. */
export function expandable(): JsonObject {
  const names = Array.from({ length: 24 }, (_, at) => `resource${at}`)
  const schemas = Object.fromEntries(
    names.map((name) => [
      name,
      {
        type: 'object',
        properties: {
          id: text,
          owner: { anyOf: [text, ...names.map((other) => ({ $ref: `#/components/schemas/${other}` }))] },
          list: { type: 'array', items: { $ref: `#/components/schemas/${name}` } },
        },
      },
    ]),
  )
  return {
    openapi: '3.0.0',
    info: { title: 'Pay', version: '1' },
    servers: [{ url: 'https://pay.example' }],
    paths: {
      '/v1/charges': {
        post: {
          operationId: 'PostCharges',
          description: 'Charges.',
          requestBody: {
            content: {
              'application/x-www-form-urlencoded': {
                encoding: { metadata: { style: 'deepObject', explode: true } },
                schema: {
                  type: 'object',
                  required: ['amount'],
                  properties: {
                    amount: { type: 'integer' },
                    metadata: {
                      anyOf: [
                        { type: 'object', additionalProperties: text },
                        { enum: [''], type: 'string' },
                      ],
                    },
                    source: { $ref: '#/components/schemas/resource0' },
                  },
                },
              },
            },
          },
        },
      },
    },
    components: { schemas },
  }
}
