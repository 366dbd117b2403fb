import type { AgentId, ConsoleSessionId, KeyId, TriggerId, WorkspaceId } from '../../base/ids.ts'
import type { Instant } from '../../base/clock.ts'
import { foldIdentity } from '../../base/identity.ts'
import type { JsonObject } from '../../base/json/json.ts'

/** The authenticated caller. Every route and every read takes one, which determines what it may see. */
export type Principal =
  | {
      readonly type: 'api_key'
      readonly id: KeyId
      readonly workspaceId: WorkspaceId
      readonly agentId: AgentId
      readonly triggerId: TriggerId
      readonly triggerName: string
      readonly allowUploads: boolean
      /** `ApiKey.person` */
      readonly person: string | null
      /** The trigger's `Expose step timeline to API clients`. */
      readonly exposeTimeline: boolean
      /** `Trigger.allowApprovals` */
      readonly allowApprovals: boolean
      /** `Trigger.allowOlderVersions` */
      readonly allowOlderVersions: boolean
    }
  | {
      readonly type: 'operator'
      readonly id: string
      readonly proof: OperatorIdentityProof
      readonly workspaceId: WorkspaceId
      readonly roles: readonly string[]
    }
  | {
      readonly type: 'schedule'
      readonly id: TriggerId
      readonly workspaceId: WorkspaceId
      readonly triggerName: string
    }

/**
 * What shows that an operator is the person of `id`: their own credential; that they read this person's mail or chat; nothing but access to the local channel; or nothing at
 * all, where `svc dev` lets a rule or `--as` name somebody.
 */
export type OperatorIdentityProof = 'credential' | 'link' | 'local' | 'claimed'

/** True for a person who proved who they are. Only their votes count where approvals of several, or of another person, are needed. */
export const isProvedPerson = (principal: Principal): boolean =>
  principal.type === 'operator' && principal.proof === 'credential'

/** True for two texts of `approverOf` that name one person or one key, whatever spelling they have. */
export const isSameApprover = (one: string, other: string): boolean => foldIdentity(one) === foldIdentity(other)

/**
 * Stable text of an approver: distinct approvals are counted by it. A person who acts through a key of one command is still
 * that person.
 */
export function approverOf(principal: Principal): string {
  if (principal.type === 'operator' && principal.proof === 'claimed') return `claimed:${principal.id}`
  if (principal.type !== 'api_key') return `${principal.type}:${principal.id}`
  return principal.person === null ? `key:${principal.id}` : `operator:${principal.person}`
}

export interface ApiKey {
  readonly id: KeyId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly triggerId: TriggerId
  readonly name: string | null
  /** The operator whose command created the key and acts through it; null = the key acts for itself. */
  readonly person: string | null
  /** First characters, for lists: enough to recognise, far too few to use. */
  readonly prefix: string
  /** SHA-256 of the secret, hexadecimal: the only form in which it is kept. */
  readonly hash: string
  readonly allowUploads: boolean
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
  readonly lastUsedAt: Instant | null
}

/** A person who acts through a key of one command is no program that approves its own calls. */
export const mayApprove = (by: Principal): boolean => by.type !== 'api_key' || by.person !== null || by.allowApprovals

/**
 * The credential of one person on the operator channel. It opens no route of the API.
 * Source: docs/design/approvals.md#who-may-decide
 */
export interface OperatorKey {
  readonly id: KeyId
  readonly workspaceId: WorkspaceId
  /** As `foldIdentity` writes it. Who approves: two credentials of one person are one approver. */
  readonly email: string
  /** What `svc/approver_role` of a policy asks for. */
  readonly roles: readonly string[]
  readonly name: string | null
  readonly prefix: string
  readonly hash: string
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
  readonly lastUsedAt: Instant | null
}

/** A browser in which an operator is signed in to the console. Source: docs/design/console.md#signing-in */
export interface ConsoleSession {
  readonly id: ConsoleSessionId
  readonly workspaceId: WorkspaceId
  /** SHA-256 of the cookie's value, hexadecimal: the only form in which it is kept. */
  readonly hash: string
  /** Identity of the operator. */
  readonly operator: string
  /** The credential that signed in: the session ends with it. Null for the local identity of the operator channel, and for a provider. */
  readonly keyId: KeyId | null
  /** `command`: of `svc login`, which opens no page. */
  readonly purpose: 'console' | 'command'
  /** Whom an identity provider named; null for a credential and the local identity. */
  readonly provider: ProvidedIdentity | null
  /** SHA-256 of the sign-in at the provider, which makes one session: null without a provider. */
  readonly signIn: string | null
  /** Name of the browser, shortened, for lists. */
  readonly browser: string
  readonly createdAt: Instant
  readonly lastUsedAt: Instant
  /** However much it is used. Null where it lasts as long as its credential. */
  readonly expiresAt: Instant | null
  /** Signed out or revoked. */
  readonly endedAt: Instant | null
}

/** What an identity provider said of a person when they signed in. */
export interface ProvidedIdentity {
  readonly issuer: string
  readonly subject: string
  /** Of those that the configuration named then. What they let a person do is what the configuration says now. */
  readonly groups: readonly string[]
  /** Those of the sign-in before, where they were others. */
  readonly earlierGroups?: readonly string[]
}

/** How it is known who acts in a session. */
export const proofOfSession = ({ keyId, provider }: ConsoleSession): OperatorIdentityProof =>
  keyId === null && provider === null ? 'local' : 'credential'

export interface Trigger {
  readonly id: TriggerId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly type: 'api' | 'schedule'
  readonly name: string
  readonly active: boolean
  readonly exposeTimeline: boolean
  /** True where its keys may erase ended sessions of its own. */
  readonly allowDelete: boolean
  /** True where its keys may answer the approvals of its runs, so that the program which starts a run can approve its calls. */
  readonly allowApprovals: boolean
  /** True where its keys may name a version that was deployed before and may do more than the deployed one. */
  readonly allowOlderVersions: boolean
  /** CIDRs; empty = every address. */
  readonly allowIps: readonly string[]
  readonly ratePerMinute: number | null
  readonly ratePerDay: number | null
  readonly maxConcurrentRuns: number | null
  readonly cron: string | null
  readonly timeZone: string | null
  /** With which a schedule starts runs; null for `{}`, and for API triggers. */
  readonly input: JsonObject | null
  /** The refusal of a schedule's last tick; null after one that started a run. */
  readonly refusal: TickRefusal | null
  readonly createdAt: Instant
}

/** Why a tick of a schedule started no run. */
export interface TickRefusal {
  /** The tick. */
  readonly at: Instant
  readonly code: string
  readonly message: string
}
