/** What is stored beside sessions: what is published and deployed, who may start and decide, and files. */
import type { Instant } from '../base/clock.ts'
import type { Digest } from '../base/digest.ts'
import type {
  AgentId,
  ConsoleSessionId,
  FileId,
  KeyId,
  PasskeyId,
  TriggerId,
  VersionId,
  WorkspaceId,
} from '../base/ids.ts'
import type { StoredFile } from '../spec/file.ts'
import type { ApiKey, ConsoleSession, OperatorKey, TickRefusal, Trigger } from '../spec/people/key.ts'
import type { NewNotice } from '../spec/notice.ts'
import type { OneTimeToken, Passkey } from '../spec/people/passkey.ts'
import type { PublishedDocument } from '../spec/snapshot.ts'
import type { KeptEvaluation } from '../spec/evaluation.ts'
import type { Attestation, InstalledTrust } from '../spec/trust/attestation.ts'
import type {
  AgentRow,
  AgentVersion,
  DeploymentRow,
  PublishedName,
  SignedDeployment,
  SourceFile,
  StoredMember,
  VersionPublication,
} from './version-rows.ts'
import type { KeyWithTrigger, PageRange } from './queries.ts'

export interface CatalogStore {
  // Versions
  /** @throws Failure `version_exists` when a member was published before with a different digest; nothing is stored then */
  publish(publication: VersionPublication): Promise<readonly StoredMember[]>
  version(id: VersionId): Promise<AgentVersion | undefined>
  versionByDigest(workspaceId: WorkspaceId, digest: Digest): Promise<AgentVersion | undefined>
  versionIdByLabel(agentId: AgentId, label: string): Promise<VersionId | undefined>
  versions(agentId: AgentId): Promise<readonly AgentVersion[]>
  /** Every version that was ever deployed, once each, most recently deployed first. */
  deployedVersions(agentId: AgentId): Promise<readonly VersionId[]>
  /** When the last deployment of a version ends; undefined for one that was never deployed. */
  lastDeployment(agentId: AgentId, versionId: VersionId): Promise<{ readonly until: Instant | null } | undefined>
  documents(workspaceId: WorkspaceId, kind: 'Tool' | 'Policy', id: string): Promise<readonly PublishedDocument[]>
  /** The files with which a version was published; undefined where none were kept. */
  sources(
    workspaceId: WorkspaceId,
    member: PublishedName,
  ): Promise<{ readonly closureDigest: Digest; readonly files: readonly SourceFile[] } | undefined>
  /**
   * Makes a version the active one of its agent. The version that is active already gets another end.
   * @param message the deployer's reason
   * @param more what channels are told of it, and what was signed
   * @throws Failure `not_found`, `deploy_regression`
   */
  deploy(
    agentId: AgentId,
    versionId: VersionId,
    at: Instant,
    by: string,
    message?: string,
    more?: {
      readonly notices?: readonly NewNotice[]
      readonly signed?: SignedDeployment
      /** Digest of the trust document by which it was judged; null for none. */
      readonly judgedBy?: Digest | null
      /** No run starts on it from then on. */
      readonly expiresAt?: Instant | null
    },
  ): Promise<{ readonly from: VersionId | null; readonly isChanged: boolean }>
  /** What was signed about closures and snapshots, oldest first. @param subjects their digests */
  attestations(workspaceId: WorkspaceId, subjects: readonly Digest[]): Promise<readonly Attestation[]>
  /** Of the last signed deployment of an agent; 0 before the first. @param agent `namespace.name` */
  deploymentRevision(workspaceId: WorkspaceId, agent: string): Promise<number>
  /** The trust document in force; undefined where nobody installed one. */
  trust(workspaceId: WorkspaceId): Promise<InstalledTrust | undefined>
  /** @param replaces digest of the document in force; undefined for none @throws Failure `trust_refused` where it is another one */
  installTrust(trust: InstalledTrust, replaces: Digest | undefined): Promise<void>
  /** Keeps an evaluation, and of the workspace the newest `most`. */
  keepEvaluation(evaluation: KeptEvaluation, most: number): Promise<void>
  /** Newest first. @param agent `namespace.name`; all when absent */
  evaluations(
    workspaceId: WorkspaceId,
    page: PageRange & { readonly agent?: string },
  ): Promise<{ readonly items: readonly KeptEvaluation[]; readonly total: number }>
  /** Newest first, at most `limit`. */
  deployments(agentId: AgentId, limit: number): Promise<readonly DeploymentRow[]>
  agent(id: AgentId): Promise<AgentRow | undefined>
  agents(workspaceId: WorkspaceId): Promise<readonly AgentRow[]>
  /**
   * Yanks a version, or takes that back together with its reason. Yanking again without a reason keeps the one there is.
   * @throws Failure `not_found`
   */
  setYanked(versionId: VersionId, yanked: boolean, reason?: string): Promise<void>
  /** Like `setYanked`, for a Tool or Policy document. @throws Failure `not_found` */
  setDocumentYanked(
    workspaceId: WorkspaceId,
    document: Pick<PublishedDocument, 'kind' | 'id' | 'version'>,
    yanked: boolean,
    reason?: string,
  ): Promise<void>

  // Keys and triggers
  createTrigger(trigger: Trigger): Promise<void>
  updateTrigger(trigger: Trigger): Promise<void>
  deleteTrigger(id: TriggerId): Promise<void>
  trigger(id: TriggerId): Promise<Trigger | undefined>
  triggers(workspaceId: WorkspaceId, agentId?: AgentId): Promise<readonly Trigger[]>
  /** The instant up to which each schedule trigger was processed; triggers never processed are absent. */
  ticks(workspaceId: WorkspaceId): Promise<ReadonlyMap<TriggerId, Instant>>
  /** @param marks null removes the mark of a trigger */
  markTicks(marks: ReadonlyMap<TriggerId, Instant | null>): Promise<void>
  /** Keeps why the last tick of a schedule started no run; null after one that did. A trigger that is gone is no error. */
  markRefusal(id: TriggerId, refusal: TickRefusal | null): Promise<void>
  createKey(key: ApiKey): Promise<void>
  /** @param hash SHA-256 of the secret, hexadecimal */
  keyByHash(hash: string): Promise<KeyWithTrigger | undefined>
  keys(workspaceId: WorkspaceId): Promise<readonly ApiKey[]>
  revokeKey(id: KeyId, at: Instant): Promise<void>
  /** Records the last use of a key. The write may be delayed and coalesced, because nothing depends on it. */
  touchKey(id: KeyId, at: Instant): void
  createOperatorKey(key: OperatorKey): Promise<void>
  /** @param hash SHA-256 of the secret, hexadecimal */
  operatorKeyByHash(hash: string): Promise<OperatorKey | undefined>
  operatorKeys(workspaceId: WorkspaceId): Promise<readonly OperatorKey[]>
  /** A second revocation keeps the instant of the first. @throws Failure `not_found` */
  revokeOperatorKey(id: KeyId, at: Instant): Promise<void>
  touchOperatorKey(id: KeyId, at: Instant): Promise<void>
  /** @throws Failure `sign_in_refused` where its sign-in made a session before */
  createConsoleSession(session: ConsoleSession): Promise<void>
  /** @param hash SHA-256 of the cookie's value, hexadecimal */
  consoleSessionByHash(hash: string): Promise<ConsoleSession | undefined>
  /** Newest first, at most `limit`. */
  consoleSessions(workspaceId: WorkspaceId, limit: number): Promise<readonly ConsoleSession[]>
  touchConsoleSession(id: ConsoleSessionId, at: Instant): Promise<void>
  /** A second end keeps the instant of the first. @throws Failure `not_found` */
  endConsoleSession(id: ConsoleSessionId, at: Instant): Promise<void>
  /** All that a person has, of the console and of commands. @returns false where there is none */
  endConsoleSessionsOf(workspaceId: WorkspaceId, operator: string, at: Instant): Promise<boolean>
  createPasskey(passkey: Passkey): Promise<void>
  /** Those that were not removed, oldest first. */
  passkeys(workspaceId: WorkspaceId): Promise<readonly Passkey[]>
  usePasskey(
    id: PasskeyId,
    use: { readonly signCount: number; readonly isBackedUp: boolean; readonly at: Instant },
  ): Promise<void>
  /** @returns false where it was removed before */
  removePasskey(id: PasskeyId, at: Instant): Promise<boolean>
  /** @param deletesBefore tokens that expired before this instant are deleted */
  putOneTimeToken(token: OneTimeToken, deletesBefore: Instant): Promise<void>
  oneTimeToken(hash: string): Promise<OneTimeToken | undefined>
  /** Uses it up. @returns false where it was used before, has expired or never was one */
  useOneTimeToken(hash: string, at: Instant): Promise<boolean>

  // Files
  /** T13. @throws Failure `storage_limit_exceeded` when pending and stored bytes with this file would exceed `quota` */
  presignFile(file: StoredFile, quota: number | null): Promise<void>
  /** T14. Idempotent. */
  finalizeFile(id: FileId, sizeBytes: number, at: Instant): Promise<void>
  fileByKey(workspaceId: WorkspaceId, objectKey: string): Promise<StoredFile | undefined>
  /** A finalized file by its leaf name. */
  fileByName(workspaceId: WorkspaceId, filename: string): Promise<StoredFile | undefined>
  files(
    workspaceId: WorkspaceId,
    page: PageRange,
  ): Promise<{ readonly items: readonly StoredFile[]; readonly total: number }>
  /** Files whose presigned address expired before `now` and whose upload is not closed: a sweep cleans up after them. */
  expiredUploads(now: Instant, limit: number): Promise<readonly StoredFile[]>
  /** Records that the staging key of a file is empty and can receive no more bytes. */
  closeUpload(id: FileId): Promise<void>
  deleteFile(id: FileId): Promise<void>
}
