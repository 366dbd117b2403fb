/** Answers of the operator application about published and deployed versions and their authority. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'

export interface PublishedMember {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: string
  readonly agentId?: string
  readonly agentVersionId?: string
  readonly already: boolean
}

export interface AgentView {
  readonly agentId: string
  readonly name: string
  readonly deployed: { readonly versionLabel: string; readonly agentVersionId: string } | null
  readonly triggers: readonly string[]
  readonly inputContract?: JsonValue
  readonly tools: readonly string[]
  /** Runs that started since midnight UTC; this and the next two where `usage` was asked for. */
  readonly runsToday?: number
  /** Runs that wait for a person. */
  readonly waiting?: number
  readonly lastRunAt?: string | null
}

/** A version with open runs that may decide some call more loosely than the deployed one. */
export interface LooserVersion {
  readonly version: string
  readonly runs: number
  /** What it allows more, in sentences; empty where the server can prove nothing. At most `MOST_LOOSER_CALLS`. */
  readonly looser: readonly string[]
  /** An operator has paused it. */
  readonly held: boolean
}

/** Maximum sentences about one version. */
export const MOST_LOOSER_CALLS = 3

export interface VersionView {
  readonly agentVersionId: string
  readonly versionLabel: string
  readonly digest: string
  readonly publishedAt: string
  readonly publishedBy: string
  /** Message of the publisher; absent if none was given. */
  readonly message?: string
  readonly deployed: boolean
  readonly yanked: boolean
  /** Absent if none was given. */
  readonly yankReason?: string
}

/** A deployment of an agent. */
export interface DeploymentView {
  readonly versionLabel: string
  readonly agentVersionId: string
  /** Of the version before; null for the first. */
  readonly from: string | null
  readonly at: string
  readonly by: string
  /** Message of the deployer; null if none was given. */
  readonly message: string | null
}

/** The files of a publication as they were written. */
export interface SourcesView {
  readonly id: string
  readonly version: string
  readonly closureDigest: string
  readonly files: readonly { readonly path: string; readonly digest: string; readonly text: string }[]
}

/** What one policy decides about one call of an agent. */
export interface AuthorityRow {
  /** `namespace.name` of the called tool or agent. */
  readonly tool: string
  readonly wire: string
  readonly kind: 'tool' | 'agent'
  readonly decision: 'allow' | 'deny' | 'require_approval' | 'escalate'
  /** `namespace.name@version` of the policy, `effect key`, or `default`. */
  readonly by: string
  /** The condition; the class if the default decides; the effect key of a repetition; `always`; or `otherwise`. */
  readonly when: string
}

/** A difference between two versions. */
export interface ChangeView {
  readonly kind: string
  readonly severity: 'major' | 'minor' | 'patch'
  readonly widens: boolean
  readonly agent: string
  readonly tool?: string
  /** A call that the two versions decide differently. */
  readonly witness?: {
    readonly tool: string
    readonly arguments: JsonValue
    readonly context?: JsonObject
    readonly before: string
    readonly after: string
  }
  readonly from: JsonValue
  readonly to: JsonValue
  readonly path: string | null
  readonly say: string
}
