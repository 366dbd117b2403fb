/** Fields that operations of several subjects have. */
import type { RunHold } from '../spec/run/hold.ts'
import type { CostSum } from '../spec/price.ts'
import {
  bounded,
  described,
  integer,
  integerFrom,
  nullable,
  object,
  oneOf,
  optional,
  string,
  textByName,
  textUpTo,
  type TypedSchema,
  type ValueOf,
} from './schema.ts'

/** An id, or `namespace.name`. */
export const reference = textUpTo(300)
export const versionLabel = textUpTo(300)
export const documentKind = oneOf('Agent', 'Tool', 'Policy')

export const ending = bounded(string, {
  pattern: '^-*([0-9A-Fa-f]-*){1,32}$',
  message: 'must be the hexadecimal end of an id',
})

export const pageFields = { skip: optional(integerFrom(0)), take: optional(integerFrom(1, 500)) }

export const message = described(
  bounded(string, {
    maxLength: 1000,
    pattern: '^([\\n\\t]|[^\\p{Cc}])+$',
    message: 'must be 1 to 1000 characters without control characters',
  }),
  'The reason, in the words of the person who publishes or deploys.',
)

/** What completions cost: exact decimal text by currency, and how many have no known price. */
export const costSum: TypedSchema<CostSum> = object({ amounts: textByName, unpriced: integer })

/** As in the status of a run. */
export const runHold: TypedSchema<RunHold> = object({ reason: string, since: string, nextAttemptAt: optional(string) })

/** The run that undoes a call, or has undone it. */
export const undoingRun = object({
  runId: string,
  status: string,
  by: described(string, 'Who requested it, as an identity: `operator:ana`.'),
  reason: nullable(string),
  at: string,
  waitingOn: described(optional(string), 'What it waits for, with the task where it is one.'),
  userTaskId: optional(string),
  hold: optional(runHold),
})
export type UndoingRunView = ValueOf<typeof undoingRun>

/** State of the call that took an effect key. */
export const effectOutcome = oneOf('in_flight', 'unknown', 'done', 'not_made')
