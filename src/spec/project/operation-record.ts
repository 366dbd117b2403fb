/**
 * What an import of an OpenAPI document leaves in `imports/NAME.json`: how each tool is sent as a request, and what the import wrote,
 * with which the next one compares. Source: docs/design/models-and-tools.md#operations-of-an-openapi-document
 */
import type { JsonValue } from '../../base/json/json.ts'

export type ParameterPlace = 'path' | 'query' | 'header' | 'cookie'

export type ParameterStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'deepObject'
  /** JSON text: a parameter with `content` in place of `schema`. */
  | 'json'

export interface WrittenStyle {
  readonly style: ParameterStyle
  readonly explode: boolean
}

export interface OperationParameter extends WrittenStyle {
  /** Name of the argument of the tool. */
  readonly argument: string
  /** Name in the request. */
  readonly name: string
  readonly in: ParameterPlace
  readonly allowReserved?: boolean
}

export interface OperationBody {
  readonly argument: string
  /** As it is sent: `application/json`, one that ends in `+json`, or `application/x-www-form-urlencoded`. */
  readonly mediaType: string
  /** How fields of a form are written; `form` and exploded where absent. */
  readonly fields?: Readonly<Record<string, WrittenStyle>>
}

export interface RecordedOperation {
  readonly method: string
  /** Template with `{name}`, below the address of the API. */
  readonly path: string
  readonly parameters: readonly OperationParameter[]
  readonly body?: OperationBody
  /** Alternatives, of which one must be met whole; an empty one needs no secret. Absent = needs none. */
  readonly security?: readonly (readonly string[])[]
}

export type SecurityScheme =
  | { readonly type: 'apiKey'; readonly in: 'header' | 'query' | 'cookie'; readonly name: string }
  /** `user:password`, or an access token. */
  | { readonly type: 'basic' | 'bearer' }

/** Version of the form of the file. */
export const OPERATION_RECORD_VERSION = 1

export interface OperationRecord {
  readonly svcImport: typeof OPERATION_RECORD_VERSION
  /** What was imported: a path or an address without its query. */
  readonly source: string
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
  /** By logical id of the tool. */
  readonly operations: Readonly<Record<string, RecordedOperation>>
  /** The documents and texts as the import wrote them, by path from the project's directory. */
  readonly written: Readonly<Record<string, JsonValue>>
}
