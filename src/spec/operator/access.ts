/** Answers of the operator application about keys, triggers, secrets and console sessions. */
import type { JsonObject } from '../../base/json/json.ts'

export interface TriggerView {
  readonly triggerId: string
  readonly agentId: string
  readonly agent: string
  readonly type: 'api' | 'schedule'
  readonly name: string
  readonly active: boolean
  readonly exposeTimeline: boolean
  readonly allowDelete: boolean
  readonly allowApprovals: boolean
  readonly allowOlderVersions: boolean
  readonly allowIps: readonly string[]
  readonly ratePerMinute: number | null
  readonly ratePerDay: number | null
  readonly maxConcurrentRuns: number | null
  readonly cron: string | null
  readonly timeZone: string | null
  /** With which a schedule starts runs; null for `{}`, and for API triggers. */
  readonly input: JsonObject | null
  /** Why the deployed version refuses this input; null where it takes it. */
  readonly inputProblem: string | null
  /** Why the last tick of the schedule started no run; null where it did. `at`: RFC 3339. */
  readonly refused: { readonly at: string; readonly code: string; readonly message: string } | null
  /** The next ticks of an active schedule, at most 5; empty for others. */
  readonly next: readonly string[]
  readonly createdAt: string
}

export interface KeyView {
  readonly keyId: string
  readonly agentId: string
  readonly agent: string
  readonly triggerId: string
  readonly trigger: string
  readonly name: string | null
  readonly prefix: string
  readonly allowUploads: boolean
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** A person's credential on this channel. */
export interface OperatorKeyView {
  readonly keyId: string
  readonly email: string
  readonly roles: readonly string[]
  readonly name: string | null
  readonly prefix: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** `secret` is in the answer to create and nowhere else, ever. */
export type CreatedKey = KeyView & { readonly secret: string }
export type CreatedOperatorKey = OperatorKeyView & { readonly secret: string }

/** A browser that is signed in to the console, or was. */
export interface ConsoleSessionView {
  readonly sessionId: string
  readonly operator: string
  /** The credential that signed in; null for the local identity of the operator channel. */
  readonly keyId: string | null
  readonly browser: string
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly endedAt: string | null
  /** The session of the request itself. */
  readonly isThis: boolean
}

/** A secret that a deployed agent names, and whether this server has it. Never the value. */
export interface SecretView {
  /** Empty where the server itself uses the variable, such as for a tool. */
  readonly agent: string
  readonly name: string
  /** The environment variable. */
  readonly env: string
  readonly state: 'set' | 'empty' | 'missing'
  /** `model anthropic`, `mcp orders`; empty where nothing uses it. */
  readonly usedBy: readonly string[]
}
