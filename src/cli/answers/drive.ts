import type { DryForkView } from '../../spec/operator/dry-fork.ts'
import type { OperatorRoutes } from '../../spec/operator/routes.ts'
import type { CallView, FileView, OutlineRun, RunOutline, RunView } from '../../spec/operator/runs.ts'
import type { UndoingRunView } from '../../spec/operator/undo.ts'
import type { CostSum } from '../../spec/price.ts'
import type { RunOutcome, RunResultLine } from '../runs/outcome.ts'
import {
  anyValue,
  boolean,
  integer,
  listAnswer,
  nullable,
  number,
  object,
  oneOf,
  openObject,
  list,
  optional,
  orRefused,
  resultsAnswer,
  string,
  textByName,
  type AnswerSchema,
} from './schema.ts'

/** What completions cost: exact decimal text by currency, and how many have no known price. */
export const costSum: AnswerSchema<CostSum> = object({ amounts: textByName, unpriced: integer })

const outcomeFields = {
  runId: string,
  sessionId: string,
  status: string,
  output: anyValue,
  error: optional(string),
  totalTokensUsed: integer,
  cost: optional(costSum),
  durationMs: integer,
  task: optional(
    object({
      userTaskId: string,
      kind: string,
      tool: optional(string),
      args: optional(anyValue),
      expiresAt: nullable(string),
    }),
  ),
}

/** Outcome of a run that was followed. */
export const runAnswer: AnswerSchema<RunOutcome> = object(outcomeFields)

/** The last line where every event is printed. */
export const runResultLine: AnswerSchema<RunResultLine> = object({ type: oneOf('result'), ...outcomeFields })

const outlineRun: AnswerSchema<OutlineRun> = object({
  runId: string,
  parentRunId: nullable(string),
  parentCallId: nullable(string),
  depth: integer,
  agent: string,
  versionLabel: string,
  status: string,
  startedAt: string,
  finishedAt: nullable(string),
  totalTokensUsed: integer,
  cost: optional(costSum),
})

/** `rows`: ordinal, index of the run, type, summary, start and end in milliseconds, tokens, call, 1 for an error. */
export const runOutline: AnswerSchema<RunOutline> = object({
  runId: string,
  sessionId: string,
  runs: list(outlineRun),
  budgets: list(
    object({
      limit: oneOf('max_tokens_per_run', 'max_loop_iterations', 'max_wall_clock_seconds', 'max_hitl_wait_minutes'),
      used: number,
      most: number,
    }),
  ),
  rows: list(anyValue),
  after: integer,
  hasMore: boolean,
})

/** A timeline item of the API. */
export const wholeStep = openObject({ runId: string, id: string, ordinal: integer, type: string, content: anyValue })

const runFields = {
  runId: string,
  sessionId: string,
  agent: string,
  versionLabel: string,
  status: string,
  depth: integer,
  parentRunId: nullable(string),
  startedAt: string,
  finishedAt: nullable(string),
  totalTokensUsed: integer,
  cost: optional(costSum),
  inputPreview: optional(string),
  trigger: string,
  waitingOn: optional(string),
  hold: optional(object({ reason: string, since: string, nextAttemptAt: optional(string) })),
  retryOf: optional(string),
  forkOf: optional(string),
  forkStep: optional(integer),
  undoOf: optional(string),
  undoneCall: optional(string),
}

export const runView: AnswerSchema<RunView> = object(runFields)

export const runsAnswer = listAnswer(runView)

/** `changed` is false where the run is on the version already. */
const migratedRun: AnswerSchema<OperatorRoutes['POST /runs/:id/migrate']['answer']> = object({
  ...runFields,
  changed: boolean,
})

export const migratedRuns = resultsAnswer(migratedRun, 'runId')

/** Of several runs, each as it is now, or why it was refused. */
export const steeredRuns = resultsAnswer(runView, 'runId')

const dryFork: AnswerSchema<DryForkView> = object({
  runId: string,
  at: integer,
  versionLabel: object({ was: string, would: string }),
  status: object({ was: string, would: string }),
  output: object({ was: anyValue, would: anyValue, isSame: boolean }),
  error: object({ was: nullable(string), would: nullable(string) }),
  stopped: optional(string),
  differences: list(
    object({ what: string, tool: string, arguments: anyValue, was: optional(string), would: optional(string) }),
  ),
  differs: boolean,
  tokens: integer,
  cost: optional(costSum),
})

export const dryForksAnswer = object({
  items: list(orRefused(dryFork, 'runId')),
  total: integer,
  differing: integer,
})

const cancelledRun: AnswerSchema<OperatorRoutes['POST /runs/:id/cancel']['answer']> = object({
  runId: string,
  before: string,
  after: string,
})

export const cancelledRuns = resultsAnswer(cancelledRun, 'runId')

export const sessionAnswer = openObject({ id: string, status: string, agent: string, runs: list(runView) })

export const uploadedFiles = resultsAnswer(
  object({
    objectKey: string,
    filename: string,
    mediaType: string,
    bytes: integer,
    inputRef: anyValue,
    messageRef: anyValue,
  }),
  'filename',
)

export const undoingRun: AnswerSchema<UndoingRunView> = object({
  runId: string,
  status: string,
  by: string,
  reason: nullable(string),
  at: string,
  waitingOn: optional(string),
  userTaskId: optional(string),
  hold: optional(object({ reason: string, since: string, nextAttemptAt: optional(string) })),
})

export const callsAnswer = listAnswer<CallView>(
  object({
    runId: string,
    agent: string,
    toolCallId: string,
    tool: string,
    state: string,
    attempts: integer,
    idempotencyKey: string,
    argsDigest: string,
    at: string,
    effect: optional(
      object({ key: string, holds: boolean, outcome: oneOf('in_flight', 'unknown', 'done', 'not_made') }),
    ),
    undoneBy: optional(undoingRun),
    undoes: optional(object({ runId: string, toolCallId: string, tool: string })),
  }),
)

export const filesAnswer = listAnswer<FileView>(
  object({ objectKey: string, filename: string, mediaType: string, sizeBytes: integer, finalizedAt: string }),
)

export const downloadedFile = object({ objectKey: string, file: string, bytes: integer })
