import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import { essentialFaults } from '../../documents/lint/essential.ts'
import { asKind } from '../../documents/text/document.ts'
import { loadFiles } from '../../documents/workspace/load.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { AnyDocument } from '../../spec/document.ts'
import type { PublishedDocument } from '../../spec/snapshot.ts'
import { reportFinding, type CompileState, type DocumentPlace } from './state.ts'

/**
 * The content of a published version, as `typedDocument` for one of the workspace: an older svc may have published it under other
 * rules. What is wrong with it is reported where it is referenced.
 */
export function typedPublished<K extends 'Tool' | 'Policy'>(
  state: CompileState,
  kind: K,
  { id, version, document: content }: PublishedDocument,
  at: DocumentPlace,
): Extract<AnyDocument, { readonly kind: K }> | undefined {
  const workspace = loadPublished(content)
  const [document] = workspace.documents
  // Where schemas were left out of the check, the content has them.
  const value = document && asKind(document, kind) && fromJson<Extract<AnyDocument, { readonly kind: K }>>(content)
  const faults = value
    ? essentialFaults(workspace, document)
    : workspace.findings.filter(({ severity }) => severity === 'error')
  for (const { rule, message } of faults)
    reportFinding(state, rule as `${string}/${string}`, at, `${id}@${version} of the registry: ${message}`)
  if (faults.length === 0 && !value)
    reportFinding(state, 'doc/schema', at, `${id}@${version} of the registry is no ${kind} document.`)
  return faults.length === 0 ? value : undefined
}

/** The limits of files do not hold for schemas: each was a file, or several, before it was put in by value. */
function loadPublished(content: JsonObject): Workspace {
  const load = (value: JsonObject) => loadFiles({ 'published.json': JSON.stringify(value) })
  const whole = load(content)
  const { spec } = content
  if (!isJsonObject(spec) || !whole.findings.some(({ rule }) => rule === 'doc/too-large')) return whole
  const small = Object.entries(spec).map(([key, value]) =>
    isJsonObject(value) && isJsonObject(value['inline'])
      ? [key, { ...value, inline: { type: 'object' } }]
      : [key, value],
  )
  return load({ ...content, spec: Object.fromEntries(small) as JsonObject })
}
