/** The parts of an OpenAPI document that an import reads: references inside it, and the list of its operations. */
import { hash } from 'node:crypto'
import { shortenText } from '../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { valueAt } from '../base/json/resolve-pointer.ts'
import { usageFailure } from '../base/usage-failure.ts'

export interface OpenApiDocument {
  readonly root: JsonObject
  /** 3.0 has `nullable` and boolean bounds; 3.1 has JSON Schema. */
  readonly isOld: boolean
}

/** A method of a path. */
export interface OpenApiOperation {
  /** `GET /pets/{id}`: what identifies it in its document. */
  readonly key: string
  /** In capitals. */
  readonly method: string
  readonly path: string
  readonly operationId: string | undefined
  readonly summary: string
  readonly tags: readonly string[]
  readonly value: JsonObject
  /** What holds for all methods of the path. */
  readonly shared: JsonObject
}

/** @throws Failure `usage` */
export function checkOpenApiDocument(value: JsonValue, name: string): OpenApiDocument {
  const root = isJsonObject(value) ? value : {}
  const { openapi, swagger } = root
  if (swagger !== undefined)
    throw usageFailure(
      `${name} is Swagger ${shortenText(JSON.stringify(swagger).replaceAll('"', ''), 40)}, which is not imported.`,
      'Convert it first, for example with `npx swagger2openapi -o openapi.json FILE`, or at https://converter.swagger.io.',
    )
  if (typeof openapi !== 'string' || !/^3\.[01]\.\d/.test(openapi))
    throw usageFailure(
      openapi === undefined
        ? `${name} is no OpenAPI document: it has no \`openapi: 3.0.x\` or \`3.1.x\`.`
        : `${name} is OpenAPI ${shortenText(JSON.stringify(openapi), 40)}; texts such as "3.0.3" and "3.1.0" are imported.`,
    )
  return { root, isOld: openapi.startsWith('3.0.') }
}

const METHODS = ['get', 'head', 'put', 'post', 'patch', 'delete'] as const

/** Paths whose operations lie elsewhere, or nowhere. */
export const listUnreadablePaths = ({ root }: OpenApiDocument): string[] =>
  Object.entries(isJsonObject(root['paths']) ? root['paths'] : {})
    .filter(([path, given]) => !path.startsWith('x-') && resolveObject(root, given) === undefined)
    .map(([path]) => path)

/** Operations in the order of the document. Those of `options` and `trace` are not for agents. */
export function listOperations({ root }: OpenApiDocument): OpenApiOperation[] {
  const paths = isJsonObject(root['paths']) ? root['paths'] : {}
  return Object.entries(paths).flatMap(([path, given]) => {
    const shared = resolveObject(root, given)
    if (shared === undefined) return []
    return METHODS.flatMap((method): OpenApiOperation[] => {
      const value = shared[method]
      if (!isJsonObject(value)) return []
      const { operationId, summary, tags } = value
      return [
        {
          key: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path,
          operationId: typeof operationId === 'string' && operationId !== '' ? operationId : undefined,
          summary: typeof summary === 'string' ? summary : '',
          tags: Array.isArray(tags) ? tags.filter((each) => typeof each === 'string') : [],
          value,
          shared,
        },
      ]
    })
  })
}

/** Most references in a row. */
const MAX_HOPS = 32

/** An object, or what its local reference leads to; undefined where that is no object, or elsewhere. */
export function resolveObject(root: JsonObject, given: JsonValue | undefined): JsonObject | undefined {
  let here = given
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    if (!isJsonObject(here)) return undefined
    const { $ref } = here
    if (typeof $ref !== 'string') return here
    here = targetOf(root, $ref)
  }
  return undefined
}

/** What a local reference (`#/…`) leads to. Others are never followed. */
export function targetOf(root: JsonObject, ref: string): JsonValue | undefined {
  if (!ref.startsWith('#/')) return undefined
  try {
    return valueAt(root, decodeURIComponent(ref.slice(1)))
  } catch {
    return undefined
  }
}

/** Longest name: a wire name has at most 64 characters, and a prefix may come before it. */
const MAX_NAME = 56

/**
 * Names of tools by operation: stable, because each depends on nothing but the whole document. Operations whose names would be
 * equal all get a digest of their method and path.
 */
export function nameOperations(operations: readonly OpenApiOperation[]): ReadonlyMap<string, string> {
  const plain = new Map(operations.map((each) => [each.key, plainName(each)]))
  const uses = new Map<string, number>()
  for (const name of plain.values()) uses.set(name, (uses.get(name) ?? 0) + 1)
  return new Map(
    [...plain].map(([key, name]) => [
      key,
      name.length <= MAX_NAME && uses.get(name) === 1 ? name : withDigest(name, key),
    ]),
  )
}

/** A name of an operation alone, whatever others are called. */
export const withDigest = (name: string, key: string): string =>
  `${name.slice(0, MAX_NAME - 9).replace(/[_-]+$/, '')}_${hash('sha256', key, 'hex').slice(0, 8)}`

const plainName = ({ operationId, method, path }: OpenApiOperation): string =>
  toToolName(operationId ?? `${method.toLowerCase()} ${path.replace(/[{}]/g, '')}`) || 'operation'

/** `getPetById`, `pets/get-by-id` → `get_pet_by_id`, `pets_get_by_id`. */
export const toToolName = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/^(?=\d)/, 'n')
