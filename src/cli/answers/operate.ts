import type { OperatorRoutes } from '../../spec/operator/routes.ts'
import type { SecretView } from '../../spec/operator/access.ts'
import type { DoctorFinding } from '../doctor/finding.ts'
import { costSum, undoingRun } from './drive.ts'
import {
  anyValue,
  boolean,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  oneOf,
  openObject,
  optional,
  string,
  type AnswerSchema,
} from './schema.ts'

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

const costSums = {
  completions: integer,
  inputTokens: integer,
  cachedInputTokens: integer,
  cacheWriteTokens: integer,
  outputTokens: integer,
  reasoningTokens: integer,
  cost: costSum,
}

export const costsAnswer: AnswerSchema<OperatorRoutes['GET /costs']['answer']> = object({
  items: list(
    object({
      agent: optional(string),
      version: optional(string),
      provider: optional(string),
      model: optional(string),
      day: optional(string),
      ...costSums,
    }),
  ),
  total: integer,
  sum: object(costSums),
})

export const outcomesAnswer: AnswerSchema<OperatorRoutes['GET /outcomes']['answer']> = object({
  items: list(
    object({
      agent: string,
      version: string,
      runs: integer,
      open: integer,
      completed: integer,
      cancelled: integer,
      failures: list(object({ code: string, runs: integer })),
      waited: object({ runs: integer, medianMs: integer, longestMs: integer, totalMs: integer }),
    }),
  ),
  total: integer,
  counted: integer,
  countedSince: optional(string),
})

const overviewCell = {
  text: optional(string),
  href: optional(string),
  at: optional(string),
  hours: optional(list(object({ runs: integer, failed: integer }))),
}

export const overviewAnswer: AnswerSchema<OperatorRoutes['GET /overview']['answer']> = object({
  since: string,
  facts: list(object({ name: string, ...overviewCell })),
  lists: list(
    object({
      title: string,
      heads: list(object({ text: string, align: optional(oneOf('right')) })),
      rows: list(list(object(overviewCell))),
    }),
  ),
})

const effectView = object({
  key: string,
  shown: string,
  holds: boolean,
  outcome: oneOf('in_flight', 'unknown', 'done', 'not_made'),
  tool: string,
  toolVersion: string,
  agent: string,
  versionLabel: string,
  runId: string,
  sessionId: string,
  toolCallId: string,
  at: string,
  expiresAt: nullable(string),
  approvedBy: list(string),
  released: optional(object({ at: string, by: string, reason: string })),
  undoneBy: optional(undoingRun),
})

export const effectsAnswer: AnswerSchema<OperatorRoutes['GET /effects']['answer']> = listAnswer(effectView)

export const releasedEffect: AnswerSchema<OperatorRoutes['POST /effects/release']['answer']> = object({
  key: string,
  items: list(effectView),
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

export const deployedSecrets = listAnswer<SecretView>(
  object({
    agent: string,
    name: string,
    env: string,
    state: oneOf('set', 'empty', 'missing'),
    usedBy: list(string),
  }),
)

export const writtenSecret = object({ name: string, file: string, seen: string })

const checkResult: AnswerSchema<DoctorFinding & { readonly check: string }> = object({
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
