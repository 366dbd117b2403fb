import type { DoctorFinding } from '../doctor/finding.ts'
import {
  anyValue,
  boolean,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  openObject,
  optional,
  string,
  type TypedSchema,
} from '../../operations/schema.ts'

export const auditExportAnswer = object({ file: string, acts: integer, head: nullable(string), digest: string })

export const auditVerifyAnswer = object({
  ok: boolean,
  acts: integer,
  head: nullable(string),
  offence: nullable(object({ seq: integer, rule: string, what: string })),
})

export const logLine = openObject({ level: string, time: string, msg: string })

export const requestLine = openObject({
  requestId: string,
  method: string,
  path: string,
  status: integer,
  ms: integer,
  key: optional(nullable(string)),
  error: optional(nullable(string)),
})

export const secretsAnswer = object({
  ok: boolean,
  items: list(
    object({
      agent: string,
      name: string,
      env: string,
      state: string,
      source: nullable(string),
      usedBy: list(string),
      seen: optional(string),
    }),
  ),
})

export const writtenSecret = object({ name: string, file: string, seen: string })

const checkResult: TypedSchema<DoctorFinding & { readonly check: string }> = object({
  check: string,
  ok: boolean,
  say: string,
  fix: optional(string),
})

export const doctorAnswer = object({ ok: boolean, items: list(checkResult) })

/** Response time of the server. */
export const healthAnswer = object({ url: string, ready: boolean, ms: integer })

export const settingsAnswer = listAnswer(object({ key: string, value: anyValue, origin: optional(string) }))
export const settingAnswer = object({ key: string, value: anyValue, origin: string })
export const changedSetting = object({ key: string, value: anyValue, file: string })

export const helpAnswer = object({
  commands: list(openObject({ path: string, plane: string, summary: string })),
  globalOptions: list(openObject({ flags: string, say: string })),
})

export const versionAnswer = object({ svc: string, node: string, platform: string, arch: string })
