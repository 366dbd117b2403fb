/** Puts the schemas of documents in by value. Source: docs/design/bundles-and-authority.md#references */
import { isJsonObject } from '../../base/json/json.ts'
import { carrySchemas, type SchemaFile } from '../../documents/schemas/carried-schemas.ts'
import { readValues } from '../../documents/workspace/read.ts'
import type { SchemaSpec } from '../../spec/document.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { readFileMember } from './file.ts'
import { reportFinding, type DocumentPlace, type CompileState } from '../state/state.ts'

/** The schema that a spec names or contains; undefined if it cannot be read, which is then reported. */
export function inlineSchema(state: CompileState, spec: SchemaSpec, at: DocumentPlace): JsonSchema | undefined {
  if (spec.inline !== undefined) return bundleSchema(state, spec.inline, undefined, at)
  return inlineSchemaFile(state, spec.ref, { document: at.document, pointer: `${at.pointer}/ref` }, spec.version)
}

/** The schema in a file of the bundle. */
export function inlineSchemaFile(
  state: CompileState,
  ref: string,
  at: DocumentPlace,
  version?: string | number,
): JsonSchema | undefined {
  const read = readSchemaFile(state, ref, at, version)
  return read && bundleSchema(state, read.schema, read.path, at)
}

function readSchemaFile(
  state: CompileState,
  ref: string,
  at: DocumentPlace,
  version?: string | number,
  beside?: string,
): SchemaFile | undefined {
  const file = readFileMember(state, 'schema', 'schema/ref-missing', ref, at, version, beside)
  if (!file) return undefined
  const { values, findings } = readValues(file)
  const [schema] = values
  const fault = findings.find((each) => each.severity === 'error')
  if (fault || schema === undefined)
    return reportFinding(
      state,
      'schema/ref-missing',
      at,
      `${file.path} cannot be read: ${fault?.message ?? 'it is empty.'}`,
    )
  if (!isJsonObject(schema) && typeof schema !== 'boolean')
    return reportFinding(state, 'schema/invalid', at, `${file.path} is no JSON Schema: a mapping belongs there.`)
  return { schema, path: file.path }
}

/** @param path of the file that contains the schema; undefined for a schema inside a document */
const bundleSchema = (
  state: CompileState,
  root: JsonSchema,
  path: string | undefined,
  at: DocumentPlace,
): JsonSchema | undefined =>
  carrySchemas(root, path, (file, from) =>
    /^[a-z][a-z0-9+.-]*:/i.test(file)
      ? reportFinding(
          state,
          'schema/remote-ref',
          at,
          `\`$ref\` names ${file}; a schema refers only to itself and to files of the bundle.`,
        )
      : readSchemaFile(state, file, at, undefined, from),
  )
