/** What a server keeps of what was signed. Source: docs/design/trust.md#tables */
import type { Instant } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import type { WorkspaceId } from '../../base/ids.ts'

/** A signed statement, as the server took it. */
export interface Attestation {
  readonly workspaceId: WorkspaceId
  /** Of the envelope. */
  readonly digest: Digest
  readonly kind: 'publication' | 'deployment'
  /** Digest of the closure that was published, or of the snapshot that was deployed. */
  readonly subject: Digest
  /** `namespace.name` of a deployment; null for a publication. */
  readonly agent: string | null
  /** Of a deployment: rises by 1 for each of an agent. */
  readonly revision: number | null
  /** Text of the envelope. */
  readonly envelope: string
  /** Ids of the keys; none where the server had no trust document. */
  readonly signers: readonly string[]
  readonly at: Instant
}

/** A trust document that is, or was, in force. */
export interface InstalledTrust {
  readonly workspaceId: WorkspaceId
  readonly version: number
  readonly digest: Digest
  readonly envelope: string
  readonly installedAt: Instant
  readonly installedBy: string
}
