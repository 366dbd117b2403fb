/** The editor's own fix for `tool/unresolved`: a new Tool document to fill in. The finding itself has a similar name. */
import { minVersion } from 'semver'
import type { Diagnostic, FindingFix } from '../text/diagnostic.ts'
import { joinPath } from '../text/paths.ts'
import { isVersionRange, readLogicalRef } from '../text/reference.ts'
import { createSource } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** Fixes that `svc lint --fix` leaves to a person; empty for other rules, and if only the version is missing. */
export function unresolvedToolFixes(workspace: Workspace, finding: Diagnostic): FindingFix[] {
  const { rule, path, pointer, range, facts } = finding
  if (rule !== 'tool/unresolved' || facts?.subject?.length !== 1) return []
  const documents = workspace.documentsAt(path)
  const document = documents.find((each) => each.placeOf(pointer).range.start.offset === range.start.offset)
  const written = document?.texts('spec.tools.*.ref').find((each) => each.pointer === pointer)?.value
  const ref = written === undefined ? undefined : readLogicalRef(written)
  if (document === undefined || ref === undefined) return []
  const { id, namespace, name } = ref
  if (namespace === 'svc') return []
  const target = [name, id]
    .map((stem) => joinPath(workspace.bundleDirectory(document), `tools/${stem}.yaml`))
    .find((each) => !workspace.files.has(each))
  if (target === undefined) return []
  const { range: wanted = '' } = ref
  const version = (isVersionRange(wanted) && minVersion(wanted)?.version) || '1.0.0'
  const edit = { path: target, range: createSource(target, '').span(0, 0), text: toolText(namespace, name, version) }
  return [{ description: `Write ${target}, a Tool document to fill in.`, edits: [edit], unsafe: true }]
}

/** The strictest class, until the author changes it: each call needs an approval. */
const toolText = (namespace: string, name: string, version: string): string => `apiVersion: svc/v1
kind: Tool
metadata:
  name: ${name}
  namespace: ${namespace}
  version: ${version}
spec:
  description: Describe what the tool does, for the model that calls it.
  side_effect_class: irreversible_action
  input_schema:
    inline:
      type: object
      properties: {}
      additionalProperties: false
`
