/** The schemas that documents name or hold, by value. Source: bundles, section 1. */
import { isJsonObject } from '../../base/json.ts'
import { carrySchemas, type SchemaFile } from '../../documents/schemas/carried-schemas.ts'
import { readValues } from '../../documents/workspace/read.ts'
import type { SchemaSpec } from '../../spec/document.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { readFileMember } from './file.ts'
import { reportFinding, type DocumentPlace, type CompileState } from '../state/state.ts'

/** The schema that a spec names or holds; undefined where it cannot be read, which is then reported. */
export function inlineSchema(work: CompileState, spec: SchemaSpec, at: DocumentPlace): JsonSchema | undefined {
  if (spec.inline !== undefined) return bundleSchema(work, spec.inline, undefined, at)
  return inlineSchemaFile(work, spec.ref, { document: at.document, pointer: `${at.pointer}/ref` }, spec.version)
}

/** The schema in a file of the bundle. */
export function inlineSchemaFile(
  work: CompileState,
  ref: string,
  at: DocumentPlace,
  version?: string | number,
): JsonSchema | undefined {
  const read = readSchemaFile(work, ref, at, version)
  return read && bundleSchema(work, read.schema, read.path, at)
}

function readSchemaFile(
  work: CompileState,
  ref: string,
  at: DocumentPlace,
  version?: string | number,
  beside?: string,
): SchemaFile | undefined {
  const file = readFileMember(work, 'schema', 'schema/ref-missing', ref, at, version, beside)
  if (!file) return undefined
  const { values, findings } = readValues(file)
  const [schema] = values
  const fault = findings.find((each) => each.severity === 'error')
  if (fault || schema === undefined)
    return reportFinding(
      work,
      'schema/ref-missing',
      at,
      `${file.path} cannot be read: ${fault?.message ?? 'it is empty.'}`,
    )
  if (!isJsonObject(schema) && typeof schema !== 'boolean')
    return reportFinding(work, 'schema/invalid', at, `${file.path} is no JSON Schema: a mapping belongs there.`)
  return { schema, path: file.path }
}

/** @param path of the file in which the schema stands; undefined for one inside a document */
const bundleSchema = (
  work: CompileState,
  root: JsonSchema,
  path: string | undefined,
  at: DocumentPlace,
): JsonSchema | undefined =>
  carrySchemas(root, path, (file, from) =>
    /^[a-z][a-z0-9+.-]*:/i.test(file)
      ? reportFinding(
          work,
          'schema/remote-ref',
          at,
          `\`$ref\` names ${file}; a schema refers only to itself and to files of the bundle.`,
        )
      : readSchemaFile(work, file, at, undefined, from),
  )
