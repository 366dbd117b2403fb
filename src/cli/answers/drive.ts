import { answerSchema } from '../../operations/operations.ts'
import { runView } from '../../operations/runs.ts'
import {
  anyValue,
  integer,
  list,
  nullable,
  object,
  oneOf,
  openObject,
  optional,
  string,
  type TypedSchema,
} from '../../operations/schema.ts'
import { costSum } from '../../operations/shared.ts'
import { dryFork } from '../../operations/steering.ts'
import type { RunOutcome, RunResultLine } from '../runs/outcome.ts'
import { orRefused, resultsAnswer } from './prints.ts'

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
export const runAnswer: TypedSchema<RunOutcome> = object(outcomeFields)

/** The last line where every event is printed. */
export const runResultLine: TypedSchema<RunResultLine> = object({ type: oneOf('result'), ...outcomeFields })

/** A timeline item of the API. */
export const wholeStep = openObject({ runId: string, id: string, ordinal: integer, type: string, content: anyValue })

export const migratedRuns = resultsAnswer(answerSchema('POST /runs/:id/migrate'), 'runId')

/** Of several runs, each as it is now, or why it was refused. */
export const steeredRuns = resultsAnswer(runView, 'runId')

export const dryForksAnswer = object({
  items: list(orRefused(dryFork, 'runId')),
  total: integer,
  differing: integer,
})

export const cancelledRuns = resultsAnswer(answerSchema('POST /runs/:id/cancel'), 'runId')

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

export const downloadedFile = object({ objectKey: string, file: string, bytes: integer })
