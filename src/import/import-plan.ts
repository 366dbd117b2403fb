/** What an importer hands to `writeImport`: what each source becomes, and what it loses. Source: docs/design/command-line.md#imports */
import { fail } from '../base/failure.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type { DocumentKind } from '../spec/document.ts'
import type { OperationRecord } from '../spec/project/operation-record.ts'
import { OperationRecordError, readOperationRecord } from '../tools/openapi/record.ts'
import { statIfAny } from '../base/files/sync-files.ts'
import { usageFailure } from '../base/usage-failure.ts'
import type { ImportLoss } from './losses.ts'
import { toToolName } from './openapi-document.ts'

export interface PlannedFile {
  readonly kind: DocumentKind | 'text'
  /** Logical id of a document; the path of a text. */
  readonly id: string
  /** What of the source it is: `GET /pets/{id}`, `agents.root`. */
  readonly key: string
  /** Where it is written at first, relative to the project. */
  readonly path: string
  readonly content: JsonObject | string
  /** What the source leaves open, as comments before the values that answer it. */
  readonly questions?: readonly OpenQuestion[]
}

export interface OpenQuestion {
  readonly at: readonly (string | number)[]
  readonly what: string
}

/** Members that the project file needs; what the author wrote there stays. */
export interface ConfigEntry {
  readonly at: readonly string[]
  readonly value: JsonObject
  /** Members that take other entries' place: with one of them alone, the author chose another way. */
  readonly owner?: string
  /** Members, from the entry, of which the author is told when the source says otherwise. */
  readonly compared: readonly (readonly string[])[]
}

export interface ImportPlan {
  readonly namespace: string
  readonly source: string
  /** Relative to the project. */
  readonly recordPath: string
  /** What the last import wrote; undefined at the first. */
  readonly before: OperationRecord | undefined
  readonly record: OperationRecord
  /** In the order of the source. */
  readonly files: readonly PlannedFile[]
  readonly config: readonly ConfigEntry[]
  readonly losses: readonly ImportLoss[]
  /** What of the last import the source no longer has. */
  readonly gone: readonly string[]
}

/** What a person has to decide. */
export interface ImportQuestion {
  readonly path: string
  readonly what: string
}

export const writtenOf = (files: readonly PlannedFile[]): Record<string, JsonValue> =>
  Object.fromEntries(files.map(({ path, content }) => [path, content]))

/** @throws Failure `usage` */
export function checkNamespace(namespace: string): string {
  if (/^[a-z][a-z0-9_-]*(?:\.[a-z][a-z0-9_-]*)*$/.test(namespace) && namespace.length <= 60 && namespace !== 'svc')
    return namespace
  throw usageFailure(`"${namespace}" is no namespace: lower-case letters, digits, \`-\`, \`_\`, and dots between.`)
}

/** The namespace as given, else one made of the title of the source. @throws Failure `usage` */
export function namespaceFor(given: string | undefined, title: string): string {
  if (given !== undefined) return checkNamespace(given)
  const name = toToolName(title).slice(0, 24).replace(/_+$/, '')
  return name === '' || name === 'svc' ? 'imported' : name
}

/** @throws Failure `usage` for a record that cannot be read */
export function readImportRecord(directory: string, path: string): OperationRecord | undefined {
  const file = `${directory}/${path}`
  if (!statIfAny(file)) return undefined
  try {
    return readOperationRecord(file)
  } catch (error) {
    if (!(error instanceof OperationRecordError)) throw error
    // Without it, an import could not tell the author's changes from its own.
    throw fail(
      'usage',
      { what: `${path} cannot be read: ${error.message}` },
      { fix: 'Take it back from version control.' },
    )
  }
}
