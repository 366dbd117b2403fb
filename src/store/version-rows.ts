/** Published versions and the agents that deploy them, as the store returns them. */
import type { Instant } from '../base/clock.ts'
import type { Digest } from '../base/digest.ts'
import type { AgentId, VersionId, WorkspaceId } from '../base/ids.ts'
import type { PublishedDocument, AgentSnapshot } from '../spec/snapshot.ts'
import type { Attestation } from '../spec/trust/attestation.ts'

export interface AgentVersion {
  readonly id: VersionId
  readonly agentId: AgentId
  readonly workspaceId: WorkspaceId
  readonly snapshot: AgentSnapshot
  readonly closureDigest: Digest
  readonly publishedAt: Instant
  readonly publishedBy: string
  /** The publisher's message; absent if none was given. */
  readonly message?: string
  readonly yanked: boolean
  /** The reason of the yank; absent if none was given. */
  readonly yankReason?: string
}

export interface AgentRow {
  readonly id: AgentId
  readonly workspaceId: WorkspaceId
  /** `namespace.name`. */
  readonly name: string
  readonly deployedVersionId: VersionId | null
  readonly previousVersionId: VersionId | null
  /** No run starts on the deployed version from then on; null for no end. */
  readonly deployedUntil: Instant | null
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
  /** Digest of the trust document by which it was judged; null for none. */
  readonly judgedBy?: Digest | null
  /** Its files as they were written, kept under the digest of the whole closure; absent where the publisher did not send them. */
  readonly written?: {
    readonly closureDigest: Digest
    readonly files: readonly Pick<SourceFile, 'path' | 'text'>[]
  }
  /** Kept with each agent version that is new. */
  readonly message?: string
  /** What was signed about it. */
  readonly attestations?: readonly Attestation[]
  readonly at: Instant
  readonly by: string
}

/** A deployment that somebody signed. */
export interface SignedDeployment {
  readonly attestation: Attestation
  /** The version that it says it replaces. */
  readonly from: VersionId | null
}

export interface PublishedName {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
}

/** A file of a publication, as it was written. */
export interface SourceFile {
  /** In the workspace of the publisher, `/` separated. */
  readonly path: string
  readonly digest: Digest
  readonly text: string
}

/** A deployment: who made which version active, and why. */
export interface DeploymentRow {
  readonly versionId: VersionId
  readonly fromVersionId: VersionId | null
  readonly at: Instant
  readonly by: string
  /** Absent if none was given. */
  readonly message?: string
  /** Until when runs might start on it; null for no end. */
  readonly expiresAt: Instant | null
}

/** One published document. `already`: this version was published before with the same digest. */
export interface StoredMember {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: Digest
  readonly already: boolean
}
