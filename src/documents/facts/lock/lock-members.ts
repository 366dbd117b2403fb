/**
 * The members that the lock of a bundle or an agent should have, as far as documents show.
 * Source: docs/design/bundles-and-authority.md#lock
 */
import { digestOf, digestOfJson, type Digest } from '../../../base/digest.ts'
import { attachmentsOf, linkedPolicies } from '../policies/attachments.ts'
import { subAgentsOf, textMember, toolDocument, toolsOf } from '../agents/bindings.ts'
import { closureOf } from '../agents/closure.ts'
import type { Document } from '../../text/document.ts'
import { withUnixLineEnds } from '../../text/line-ends.ts'
import { integrityOf } from './published-form.ts'
import { pathsIn } from '../path-refs.ts'
import { readAgentRef } from '../../text/reference.ts'
import type { Workspace } from '../../workspace/workspace.ts'

/** A document or file that is taken from the workspace. */
export interface LocalMember {
  readonly kind: 'agent' | 'tool' | 'policy' | 'file'
  /** `namespace.name`; the path of a file. */
  readonly id: string
  readonly version?: string
  /** Undefined if it cannot be computed. */
  readonly integrity?: Digest
}

/** A document that is taken from the registry. */
export interface RegistryMember {
  readonly kind: 'agent' | 'tool'
  readonly id: string
  /** The exact version of an agent, the range of a tool; undefined for any. */
  readonly range?: string
}

export interface LockMembers {
  readonly local: readonly LocalMember[]
  readonly registry: readonly RegistryMember[]
}

/** Members of the closure of an agent, without those of guardrails, nested schemas and registry documents. */
export function lockMembers(workspace: Workspace, root: Document): LockMembers {
  const agents = closureOf(workspace, root)
  const together = new Set(workspace.publishedTogether(root))
  const uses = agents.flatMap(toolsOf).filter(({ builtin }) => !builtin)
  const tools = uses.flatMap((use) => toolDocument(workspace, use) ?? []).filter((tool) => together.has(tool))
  const policies = [
    ...[...agents, ...tools].flatMap((each) => attachmentsOf(workspace, each).map((attached) => attached.policies)),
    ...agents.flatMap((agent) =>
      agent
        .texts('metadata.governance.authority_boundaries.*')
        .map(({ value }) => linkedPolicies(workspace, agent, value)),
    ),
  ].flatMap((found) => (found.length === 1 ? found : []))
  const documents = [...new Set([...agents, ...tools, ...policies])].filter((each) => together.has(each))
  const files = [...new Set([...agents, ...tools].flatMap((document) => filesOf(workspace, document)))]
  return {
    local: [
      ...documents.flatMap((document) => lockMembersOf(workspace, document)),
      ...files.map((path) => fileMember(workspace, path)),
    ],
    registry: [
      ...uses.flatMap((use): RegistryMember[] =>
        use.ref === undefined || use.value['mcp'] !== undefined || toolDocument(workspace, use) !== undefined
          ? []
          : [{ kind: 'tool', id: use.ref.id, ...(use.ref.range !== undefined && { range: use.ref.range }) }],
      ),
      ...agents.flatMap(subAgentsOf).flatMap(({ value }): RegistryMember[] => {
        const ref = readAgentRef(textMember(value, 'ref') ?? '')
        return ref.form === 'pinned' && value['late_bound'] !== true
          ? [{ kind: 'agent', id: ref.id, range: ref.version }]
          : []
      }),
    ],
  }
}

const KINDS = { Agent: 'agent', Tool: 'tool', Policy: 'policy' } as const

/** A document as a lock member; empty for a kind that is not locked. */
export function lockMembersOf(workspace: Workspace, document: Document): LocalMember[] {
  const { kind, identity, value } = document
  if (kind === 'Bundle' || identity === undefined) return []
  const integrity = kind === 'Agent' ? digestOfJson(value) : integrityOf(workspace, document)
  return [{ kind: KINDS[kind], id: identity.id, version: identity.version, ...(integrity && { integrity }) }]
}

export const fileMember = (workspace: Workspace, path: string): LocalMember => ({
  kind: 'file',
  id: path,
  integrity: digestOf(withUnixLineEnds(workspace.bytes(path))),
})

/** Files that a document references; scripts only for scripted models. */
function filesOf(workspace: Workspace, document: Document): string[] {
  return pathsIn(document)
    .filter(({ key }) => key !== 'script')
    .map(({ value }) => workspace.resolve(document, value))
    .flatMap((found) => ('path' in found && workspace.documentsAt(found.path).length === 0 ? [found.path] : []))
}
