/** Tool and Policy documents in the form that is published and locked. Source: docs/design/bundles-and-authority.md#lock */
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import type { SchemaSpec } from '../../../spec/document.ts'
import { digestOfDocument, type JsonSchema } from '../../../spec/snapshot.ts'
import type { Digest } from '../../../base/digest.ts'
import { carrySchemas, type SchemaFile } from '../../schemas/carried-schemas.ts'
import { asKind, type Document } from '../../text/document.ts'
import { memoizePerObject } from '../../workspace/memoize.ts'
import { readValues } from '../../workspace/read.ts'
import { resolveBeside } from '../../workspace/resolve-beside.ts'
import type { Workspace } from '../../workspace/workspace.ts'

/** The document with its schemas by value; undefined for another kind, a wrong shape, and a schema that cannot be read. */
export const publishedFormOf = memoizePerObject((workspace, document: Document): JsonObject | undefined => {
  const tool = asKind(document, 'Tool')
  if (tool === undefined) return asKind(document, 'Policy') && document.value
  const inlined: Record<string, JsonObject> = {}
  for (const field of ['input_schema', 'output_schema'] as const) {
    const spec = tool.spec[field]
    if (spec === undefined) continue
    const inline = schemaByValue(workspace, document, spec)
    if (inline === undefined) return undefined
    inlined[field] = { inline }
  }
  return { ...document.value, spec: { ...(document.value['spec'] as JsonObject), ...inlined } }
})

/** The digest that a lock holds for the document; undefined where `publishedFormOf` is. */
export function integrityOf(workspace: Workspace, document: Document): Digest | undefined {
  const { kind, identity } = document
  const content = publishedFormOf(workspace, document)
  if (content === undefined || identity === undefined || (kind !== 'Tool' && kind !== 'Policy')) return undefined
  return digestOfDocument({ kind, id: identity.id, version: identity.version, document: content })
}

/** The schema of a spec with every file that it references; undefined where one cannot be read. */
export function schemaByValue(workspace: Workspace, document: Document, spec: SchemaSpec): JsonSchema | undefined {
  const read = (ref: string, beside?: string, version?: string | number): SchemaFile | undefined => {
    const found = resolveBeside(workspace, document, beside, ref, version)
    if (!('path' in found)) return undefined
    const { values, findings } = readValues({ path: found.path, bytes: workspace.bytes(found.path) })
    const [schema] = values
    if (findings.some(({ severity }) => severity === 'error')) return undefined
    return isJsonObject(schema) || typeof schema === 'boolean' ? { schema, path: found.path } : undefined
  }
  const root =
    spec.inline === undefined ? read(spec.ref, undefined, spec.version) : { schema: spec.inline, path: undefined }
  return root && carrySchemas(root.schema, root.path, read)
}
