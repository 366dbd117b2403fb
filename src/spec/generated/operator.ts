// Written by scripts/openapi.js from schemas/operator-requests.yaml.

import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { CancelBody } from './api.ts'

/** What the operator's own routes accept. Queries are as the server reads them; all travel as text. */
export interface OperatorRequests<Bundle> {
  'POST /publish': {
    readonly body: {
      readonly bundle: Bundle
      readonly deploy?: boolean
      /** The reason, in the words of the person who publishes or deploys. */
      readonly message?: string
      /** The files of the bundle as they were written, for people to read later. */
      readonly sources?: readonly {
        readonly path: string
        readonly text: string
      }[]
    }
  }
  'POST /deploy': {
    readonly body: {
      readonly agent: string
      readonly version?: string
      readonly rollback?: boolean
      /** Without it a yanked version is refused. */
      readonly allowYanked?: boolean
      /** The reason, in the words of the person who publishes or deploys. */
      readonly message?: string
    }
  }
  'GET /looser-versions': {
    readonly query: {
      readonly agent: string
    }
  }
  'GET /agents': {
    readonly query: {
      readonly usage?: boolean
    }
  }
  'GET /versions': {
    readonly query: {
      readonly agent: string
    }
  }
  'GET /snapshot': {
    readonly query: {
      readonly agent?: string
      readonly version?: string
      readonly digest?: string
    }
  }
  'GET /matrix': {
    readonly query: {
      readonly agent: string
      readonly version?: string
    }
  }
  'GET /graph': {
    readonly query: {
      readonly agent: string
      readonly version?: string
    }
  }
  'GET /difference': {
    readonly query: {
      readonly agent: string
      readonly from: string
      readonly to: string
    }
  }
  'GET /documents': {
    readonly query: {
      readonly kind: 'Tool' | 'Policy'
      readonly id: string
    }
  }
  'GET /sources': {
    readonly query: {
      readonly kind?: 'Agent' | 'Tool' | 'Policy'
      readonly id: string
      /** The deployed version of the agent when absent. */
      readonly version?: string
    }
  }
  'GET /deployments': {
    readonly query: {
      readonly agent: string
    }
  }
  'POST /lint': {
    readonly body: {
      /** The publication that the edited documents belong to; its deployed version when absent. */
      readonly base?: {
        readonly agent: string
        readonly version?: string
      }
      readonly edits: readonly {
        readonly path: string
        readonly text: string
      }[]
    }
  }
  'POST /decide': {
    readonly body: {
      readonly run: string
      /** Its id. */
      readonly decision: string
      /** In place of the recorded ones. */
      readonly arguments?: JsonValue
      /** The publication that the edited documents belong to; its deployed version when absent. */
      readonly base?: {
        readonly agent: string
        readonly version?: string
      }
      readonly edits?: readonly {
        readonly path: string
        readonly text: string
      }[]
    }
  }
  'POST /what-if': {
    readonly body: {
      /** The publication that the edited documents belong to; its deployed version when absent. */
      readonly base?: {
        readonly agent: string
        readonly version?: string
      }
      readonly edits: readonly {
        readonly path: string
        readonly text: string
      }[]
      /** Only calls of this agent. */
      readonly agent?: string
      /** An RFC 3339 time. */
      readonly since?: string
      /** Flips in the answer; 200 when absent. */
      readonly take?: number
    }
  }
  'POST /yank': {
    readonly body: {
      readonly kind: 'Agent' | 'Tool' | 'Policy'
      readonly id: string
      readonly version: string
      readonly yanked: boolean
      /** Only where `yanked` is true. */
      readonly reason?: string
    }
  }
  'POST /triggers': {
    readonly body: {
      readonly agent: string
      readonly type: 'api' | 'schedule'
      readonly name?: string
      readonly cron?: string
      readonly timeZone?: string
      /** With which a schedule starts runs. */
      readonly input?: JsonObject
      readonly exposeTimeline?: boolean
      /** Whether keys may erase ended sessions of the trigger. */
      readonly allowDelete?: boolean
      /** Whether keys may answer the approvals of runs that the trigger starts. */
      readonly allowApprovals?: boolean
      /** Whether keys may name a version that may do more than the deployed one. */
      readonly allowOlderVersions?: boolean
      readonly allowIps?: readonly string[]
      /** Null removes the limit. */
      readonly ratePerMinute?: number | null
      /** Null removes the limit. */
      readonly ratePerDay?: number | null
      /** Null removes the limit. */
      readonly maxConcurrentRuns?: number | null
    }
  }
  'PATCH /triggers/:id': {
    readonly body: {
      readonly active?: boolean
      /** With which a schedule starts runs. */
      readonly input?: JsonObject
      readonly exposeTimeline?: boolean
      /** Whether keys may erase ended sessions of the trigger. */
      readonly allowDelete?: boolean
      /** Whether keys may answer the approvals of runs that the trigger starts. */
      readonly allowApprovals?: boolean
      /** Whether keys may name a version that may do more than the deployed one. */
      readonly allowOlderVersions?: boolean
      readonly allowIps?: readonly string[]
      /** Null removes the limit. */
      readonly ratePerMinute?: number | null
      /** Null removes the limit. */
      readonly ratePerDay?: number | null
      /** Null removes the limit. */
      readonly maxConcurrentRuns?: number | null
    }
  }
  'GET /triggers': {
    readonly query: {
      readonly agent?: string
    }
  }
  'POST /keys': {
    readonly body: {
      readonly agent: string
      /** An id or a name. */
      readonly trigger: string
      readonly allowUploads?: boolean
      readonly name?: string
      /** What is done with the key counts as done by the person who asks for it. */
      readonly oneCommand?: boolean
      readonly expiresInSeconds?: number
    }
  }
  'POST /operator-keys': {
    readonly body: {
      readonly email: string
      readonly roles?: readonly string[]
      readonly name?: string
      readonly expiresInSeconds?: number
    }
  }
  'GET /keys': {
    readonly query: {
      readonly agent?: string
      /** Those of single commands too, when their time is over. */
      readonly all?: boolean
    }
  }
  'POST /runs': {
    readonly body: {
      readonly agent: string
      readonly input?: JsonObject
      /** Label of a published version, executed in place of the deployed one. */
      readonly version?: string
      /** A rehearsal, which differs from what the agent's documents say. Only a development server accepts it. */
      readonly rehearsal?: {
        /** `provider/name`, asked instead of the models of every agent. */
        readonly model?: string
        /** Absolute path of the recording to write: what models and tools answer. */
        readonly record?: string
        /** Absolute path of a recording: no model and no tool is asked. Not with `record`. */
        readonly replay?: string
      }
    }
  }
  'GET /runs': {
    readonly query: {
      readonly ending?: string
      readonly agent?: string
      /** Separated by commas. */
      readonly status?: string
      readonly waiting?: boolean
      readonly since?: string
      /** Started before this time. */
      readonly until?: string
      /** The largest first, of the newest 10,000 that the other filters let through. */
      readonly sort?: 'started' | 'duration' | 'tokens' | 'cost'
      /** Milliseconds. */
      readonly minDuration?: number
      readonly minTokens?: number
      /** Amounts of all currencies together. */
      readonly minCost?: string
      readonly session?: string
      /** Words of its input, or of its output and error; or the end of its id. */
      readonly search?: string
      /** Id of a tool that it called. */
      readonly tool?: string
      /** Effect key that a call of it took. */
      readonly effect?: string
      /** Label of its version. */
      readonly version?: string
      /** Name of the trigger that started it; `operator` where none did. */
      readonly trigger?: string
      /** Who started it or voted in it, with or without `operator:`. */
      readonly person?: string
      /** Who voted, with or without `operator:`. */
      readonly approver?: string
      /** A member of its metadata. */
      readonly label?: string
      readonly preview?: boolean
      /** Without sub-agent runs. */
      readonly roots?: boolean
      readonly skip?: number
      readonly take?: number
    }
  }
  'GET /runs/:id/outline': {
    readonly query: {
      readonly after?: number
      /** About how many rows at most. */
      readonly take?: number
    }
  }
  'POST /files': {
    readonly query: {
      readonly filename: string
      readonly mediaType: string
    }
  }
  'GET /runs/:id/step': {
    readonly query: {
      readonly ordinal: number
    }
  }
  'POST /runs/:id/cancel': { readonly body: CancelBody }
  'GET /runs/:id/scenario': {
    readonly query: {
      readonly name?: string
    }
  }
  'POST /runs/:id/resume': {
    readonly body: {
      readonly reason?: string
      /** Label of the version that the run goes on with. */
      readonly version?: string
      /** Without it a version that may do more is refused. */
      readonly allowWiden?: boolean
      readonly allowYanked?: boolean
      /** Grants the limit that ended the run once more. */
      readonly grant?: boolean
    }
  }
  'POST /runs/:id/migrate': {
    readonly body: {
      /** Label of the version that the run moves to. */
      readonly version: string
      readonly reason?: string
    }
  }
  'POST /runs/:id/undo': {
    readonly body: {
      readonly reason?: string
      /** The calls to undo, as the plan names them; in any order. */
      readonly calls: readonly {
        readonly runId: string
        readonly toolCallId: string
      }[]
    }
  }
  'POST /runs/:id/retry': { readonly body: {} }
  'POST /runs/fork': {
    readonly body: {
      /** Ids of root runs. */
      readonly runs: readonly string[]
      /** Ordinal of the last step to take over. */
      readonly at: number
      /** Label of the version; that of each run when absent. */
      readonly version?: string
      readonly edits?: readonly {
        readonly step: number
        /** The text of a message or answer, or the result of a call. */
        readonly value: unknown
      }[]
      /** Without it a version that may do more is refused. */
      readonly allowWiden?: boolean
      readonly allowYanked?: boolean
      /** A second request with the same key returns the forks of the first. */
      readonly idempotencyKey?: string
    }
  }
  'POST /runs/dry-fork': {
    readonly body: {
      /** Ids of root runs. */
      readonly runs: readonly string[]
      /** Ordinal of the last step to take over. */
      readonly at: number
      /** Label of the version; that of each run when absent. */
      readonly version?: string
      readonly edits?: readonly {
        readonly step: number
        /** The text of a message or answer, or the result of a call. */
        readonly value: unknown
      }[]
      /** Without it a version that may do more is refused. */
      readonly allowWiden?: boolean
      readonly allowYanked?: boolean
      /** A second request with the same key returns the forks of the first. */
      readonly idempotencyKey?: string
    }
  }
  'POST /runs/:id/messages': { readonly body: JsonObject & { readonly as?: string } }
  'GET /v1/runs/:id/conversation': {
    readonly query: {
      readonly cursor?: string
    }
  }
  'GET /sessions': {
    readonly query: {
      readonly agent?: string
      readonly versionId?: string
      readonly status?: string
      readonly ending?: string
      readonly skip?: number
      readonly take?: number
    }
  }
  'PATCH /sessions/:id': {
    readonly body: {
      /** Null or an empty text removes it. */
      readonly title?: string | null
      readonly metadata?: Readonly<Record<string, string>>
      readonly tags?: readonly string[]
      /** Exempts the session from erasure and retention. */
      readonly legalHold?: boolean
    }
  }
  'GET /files': {
    readonly query: {
      readonly skip?: number
      readonly take?: number
    }
  }
  'GET /files/content': {
    readonly query: {
      /** The object key or the file name. */
      readonly key: string
    }
  }
  'GET /tasks': {
    readonly query: {
      readonly ending?: string
      readonly agent?: string
      /** Separated by commas. */
      readonly kind?: string
      readonly all?: boolean
      readonly operator?: boolean
    }
  }
  'POST /tasks/:id/claim': {
    readonly body: {
      readonly leave?: boolean
    }
  }
  'GET /decisions': {
    readonly query: {
      readonly run?: string
      readonly agent?: string
      readonly since?: string
      /** ref = arguments of more than 4 KiB come as references. */
      readonly values?: 'ref'
      readonly skip?: number
      readonly take?: number
      /** Without skip, a page that has this decision, call or digest of arguments; otherwise the last page. */
      readonly with?: string
    }
  }
  'GET /costs': {
    readonly query: {
      /** agent, version, model and day, separated by commas. */
      readonly by?: string
      readonly agent?: string
      readonly since?: string
      readonly until?: string
    }
  }
  'GET /outcomes': {
    readonly query: {
      readonly agent?: string
      readonly since?: string
    }
  }
  'POST /policies/revoke': {
    readonly body: {
      readonly name: string
      readonly reason: string
      readonly undo?: boolean
    }
  }
  'GET /effects': {
    readonly query: {
      /** The text of a key, or its digest. */
      readonly key?: string
      readonly all?: boolean
      readonly since?: string
      readonly skip?: number
      readonly take?: number
    }
  }
  'POST /effects/release': {
    readonly body: {
      readonly key: string
      readonly reason: string
    }
  }
  'GET /pauses': {
    readonly query: {
      readonly all?: boolean
    }
  }
  'POST /pauses': {
    readonly body: {
      readonly kind: 'all' | 'agent' | 'version' | 'tool' | 'provider'
      readonly name?: string
      readonly paused: boolean
      readonly reason?: string
    }
  }
  'GET /logs': {
    readonly query: {
      readonly run?: string
      readonly agent?: string
      readonly level?: 'debug' | 'info' | 'warn' | 'error'
      readonly since?: string
      readonly grep?: string
      readonly http?: boolean
      readonly status?: string
      readonly path?: string
      readonly follow?: boolean
    }
  }
  'GET /restored': {
    readonly query: {
      readonly run?: string
      readonly agent?: string
      readonly trigger?: string
    }
  }
  'POST /restored/release': {
    readonly body: {
      readonly run?: string
      readonly agent?: string
      readonly trigger?: string
      readonly asksForSeconds?: number
      /** Effect keys of calls that are known to have happened after the backup. */
      readonly happened?: readonly string[]
    }
  }
}
