/** What the rules ask the registry about the documents of a workspace. */
import type { DocumentKind } from '../../spec/document.ts'
import type { Document } from '../text/document.ts'
import { readAgentRef } from '../text/reference.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { subAgentsOf, textMember, toolDocument, toolsOf } from './agents/bindings.ts'
import { lockOf, registryKindOf } from './lock/lock-file.ts'
import { attachmentsOf, scopeOf } from './policies/attachments.ts'

export interface RegistryQuestion {
  readonly kind: Exclude<DocumentKind, 'Bundle'>
  /** `namespace.name`. */
  readonly id: string
}

/**
 * Every name that may have to be looked up: what no document of the workspace answers to, and what locks pin.
 * @param contents true to compare Tool and Policy documents with what was published under their version
 */
export function registryQuestions(workspace: Workspace, contents: boolean): readonly RegistryQuestion[] {
  const asked = new Map<string, RegistryQuestion>()
  for (const document of workspace.documents)
    for (const [kind, id] of namesIn(workspace, document, contents)) asked.set(`${kind} ${id}`, { kind, id })
  return [...asked.values()]
}

type RegistryName = readonly [kind: RegistryQuestion['kind'], id: string]

function namesIn(workspace: Workspace, document: Document, contents: boolean): RegistryName[] {
  const { kind, identity } = document
  const scope = kind === 'Policy' ? scopeOf(document) : undefined
  return [
    ...toolsOf(document).flatMap((use): RegistryName[] =>
      use.ref === undefined || use.builtin || toolDocument(workspace, use) ? [] : [['Tool', use.ref.id]],
    ),
    ...attachmentsOf(workspace, document).flatMap(({ written, policies, resolution }): RegistryName[] =>
      policies.length > 0 || resolution !== undefined || written === '' ? [] : [['Policy', written]],
    ),
    ...subAgentsOf(document).flatMap(({ value }): RegistryName[] => {
      const ref = readAgentRef(textMember(value, 'ref') ?? '')
      return ref.form === 'floating' ? [['Agent', ref.id]] : []
    }),
    ...(scope === undefined || workspace.find(document, 'Tool', scope).length > 0 ? [] : [['Tool', scope] as const]),
    ...(kind === 'Bundle' ? pinnedNames(workspace, document) : []),
    ...(contents && identity && (kind === 'Tool' || kind === 'Policy') ? [[kind, identity.id] as const] : []),
  ]
}

const pinnedNames = (workspace: Workspace, bundle: Document): RegistryName[] =>
  (lockOf(workspace, bundle)?.members ?? []).flatMap(({ kind, id, origin }): RegistryName[] => {
    const registryKind = registryKindOf(kind)
    return registryKind === undefined || origin !== 'registry' || id === undefined ? [] : [[registryKind, id]]
  })
