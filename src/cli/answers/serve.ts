import type { OperatorList, OperatorRoutes } from '../../spec/operator/routes.ts'
import type { ConsoleSessionView } from '../../spec/operator/access.ts'
import type { WorkerView } from '../../spec/operator/operations.ts'
import type { RestoredView } from '../../spec/operator/runs.ts'
import {
  boolean,
  integer,
  list,
  nullable,
  object,
  oneOf,
  openObject,
  optional,
  string,
  type AnswerSchema,
} from './schema.ts'
import { versionChangeSchema } from './difference.ts'

/** The line that scripts wait for. Source: docs/design/command-line.md#serving */
export const readyAnswer = object({
  type: oneOf('ready'),
  url: string,
  uploadUrl: string,
  consoleUrl: nullable(string),
  pid: integer,
})

export const reloadAnswer = object({
  type: oneOf('reload'),
  changed: list(string),
  agent: string,
  version: string,
  ms: integer,
  changes: list(versionChangeSchema),
})

export const diagnosticLine = openObject({ type: oneOf('diagnostic'), severity: string, rule: string, message: string })

/** Versions of the schema before and after. */
export const migrateAnswer = object({ database: string, from: integer, to: integer })

/** `reopened`: the store that may be served again, and the place of its copy. */
export const copyAnswer = object({ from: string, to: string, rows: integer, files: integer, digest: string })
export const reopenedAnswer = object({ reopened: string, copy: nullable(string) })

export const workerAnswer: AnswerSchema<WorkerView> = object({
  workerId: string,
  version: string,
  url: nullable(string),
  state: oneOf('serving', 'draining', 'silent'),
  startedAt: string,
  seenAt: string,
  leases: integer,
})

export const workersAnswer: AnswerSchema<OperatorList<WorkerView>> = object({
  items: list(workerAnswer),
  total: integer,
})

export const backupAnswer = object({ file: string, bytes: integer, digest: string, runs: integer, objects: integer })

/** How many runs and triggers a restore holds. */
const heldCounts = object({ runs: integer, triggers: integer })

export const releaseAnswer: AnswerSchema<OperatorRoutes['POST /restored/release']['answer']> = object({
  runs: integer,
  triggers: integer,
  asksUntil: nullable(string),
  known: integer,
})

export const restoreAnswer = object({
  file: string,
  dataDirectory: string,
  workspace: string,
  runs: integer,
  objects: integer,
  held: heldCounts,
})

export const restorePlan: AnswerSchema<RestoredView> = object({
  restore: nullable(
    object({ at: string, backedUpAt: string, releasedAt: nullable(string), asksUntil: nullable(string) }),
  ),
  runs: list(
    object({
      runId: string,
      agent: string,
      status: string,
      startedAt: string,
      heldSince: string,
      mayRepeat: list(
        object({
          runId: string,
          agent: string,
          what: oneOf('completion', 'call'),
          tool: optional(string),
          sideEffectClass: optional(nullable(string)),
          idempotencyKey: optional(string),
          onRelease: oneOf('made', 'asked'),
        }),
      ),
    }),
  ),
  triggers: list(
    object({
      triggerId: string,
      agent: string,
      type: oneOf('api', 'schedule'),
      name: string,
      nextAt: nullable(string),
    }),
  ),
})

export const resetAnswer = object({ all: boolean, runs: integer, files: integer, dataDirectory: string })

export const consoleAddress: AnswerSchema<OperatorRoutes['POST /console/codes']['answer']> = object({
  url: string,
  expiresAt: string,
})

export const consoleSession: AnswerSchema<ConsoleSessionView> = object({
  sessionId: string,
  operator: string,
  keyId: nullable(string),
  browser: string,
  createdAt: string,
  lastUsedAt: string,
  endedAt: nullable(string),
  isThis: boolean,
})

export const consoleSessions: AnswerSchema<OperatorList<ConsoleSessionView>> = object({
  items: list(consoleSession),
  total: integer,
})
