import type { DoctorFinding } from '../doctor/finding.ts'
import {
  anyValue,
  boolean,
  described,
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

export const auditExportAnswer = object({
  file: string,
  acts: integer,
  sessions: integer,
  head: described(nullable(string), 'Hash of the last act.'),
  digest: string,
})

export const auditCheckpointAnswer = object({
  log: string,
  heads: described(integer, 'Heads of chains that are new in the log.'),
  size: described(integer, 'Lines that the checkpoint has signed.'),
  copies: list(
    object({
      to: described(string, 'An address, or `git`.'),
      failure: described(nullable(string), 'Why it did not take what it lacks; null where it did.'),
    }),
  ),
  key: described(string, 'The public key, as a line for those who check.'),
  reported: described(boolean, 'True if the server was told.'),
})

export const auditVerifyAnswer = object({
  ok: boolean,
  acts: integer,
  sessions: integer,
  events: integer,
  rows: described(integer, 'Rows that saves overwrite, of which the last save says what they have to be.'),
  setup: described(integer, 'Rows that operators set up, of which the last act says what they have to be.'),
  unchecked: described(
    list(
      object({
        row: string,
        act: described(
          nullable(integer),
          'The act whose content was erased; null where an earlier version of svc named no rows.',
        ),
      }),
    ),
    'Rows that operators set up of which only is known that they are there.',
  ),
  signed: described(integer, 'Publications and deployments of which the signatures are good.'),
  uncovered: described(integer, 'Events that an earlier version of svc stored, which no chain covers.'),
  withoutContent: described(integer, 'Sessions whose content is erased or left out: nothing is known of their calls.'),
  calls: described(integer, 'Calls that were sent.'),
  approved: described(integer, 'Calls that people had decided.'),
  checkpoints: described(integer, 'Checkpoints of the log; 0 without one.'),
  gone: described(integer, 'Sessions of the earlier export, or signed ones, that are not in this export.'),
  head: described(nullable(string), 'Hash of the last act.'),
  offence: nullable(
    object({
      session: described(nullable(string), 'Null for an act.'),
      seq: described(integer, 'Number of the act or event; 0 where the file cannot be read.'),
      rule: string,
      what: string,
    }),
  ),
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
