import { boolean, integer, list, nullable, object, oneOf, openObject, string } from '../../operations/schema.ts'
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

export const backupAnswer = object({ file: string, bytes: integer, digest: string, runs: integer, objects: integer })

/** How many runs and triggers a restore holds. */
const heldCounts = object({ runs: integer, triggers: integer })

export const restoreAnswer = object({
  file: string,
  dataDirectory: string,
  workspace: string,
  runs: integer,
  objects: integer,
  held: heldCounts,
})

export const resetAnswer = object({ all: boolean, runs: integer, files: integer, dataDirectory: string })

/** `kept`: the file, or what keeps it. */
export const loginAnswer = object({
  server: string,
  url: string,
  issuer: string,
  client_id: string,
  scope: nullable(string),
  kept: string,
})

/** `endsAt`: null where the session lasts as long as it is used. */
export const serverLoginAnswer = object({
  server: string,
  operator: string,
  roles: list(string),
  may: nullable(string),
  endsAt: nullable(string),
  kept: string,
})

/** `ended`: the server confirmed that the session is over. */
export const serverLogoutAnswer = object({ server: string, erased: boolean, ended: boolean })

/** `revoked`: the authorization server confirmed that it ended the consent. */
export const logoutAnswer = object({ server: string, url: string, erased: boolean, revoked: boolean })
