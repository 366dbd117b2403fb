/** Published versions and the agents that deploy them, as the store returns them. */
import type { Instant } from '../base/clock.ts'
import type { Digest } from '../base/digest.ts'
import type { AgentId, VersionId, WorkspaceId } from '../base/ids.ts'
import type { PublishedDocument, AgentSnapshot } from '../spec/snapshot.ts'

export interface AgentVersion {
  readonly id: VersionId
  readonly agentId: AgentId
  readonly workspaceId: WorkspaceId
  readonly snapshot: AgentSnapshot
  readonly closureDigest: Digest
  readonly publishedAt: Instant
  readonly publishedBy: string
  readonly yanked: boolean
  /** In the words of who yanked it; absent where nobody said. */
  readonly yankReason?: string
}

export interface AgentRow {
  readonly id: AgentId
  readonly workspaceId: WorkspaceId
  /** `namespace.name`. */
  readonly name: string
  readonly deployedVersionId: VersionId | null
  readonly previousVersionId: VersionId | null
}

export interface VersionPublication {
  readonly workspaceId: WorkspaceId
  readonly agents: readonly {
    readonly id: VersionId
    readonly agentId: AgentId
    readonly snapshot: AgentSnapshot
    readonly closureDigest: Digest
  }[]
  readonly documents: readonly PublishedDocument[]
  readonly at: Instant
  readonly by: string
}

/** One published document. `already`: this version was published before with the same digest. */
export interface StoredMember {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: Digest
  readonly already: boolean
}
