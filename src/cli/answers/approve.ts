import { integer, list, listAnswer, object, optional, string, type TypedSchema } from '../../operations/schema.ts'
import { inboxTask } from '../../operations/tasks.ts'
import type { AnswerReceipt } from '../runs/task-channel.ts'
import { resultsAnswer } from './prints.ts'

export const inboxAnswer = object({
  items: list(inboxTask),
  total: integer,
  held: optional(list(object({ reason: string, runs: integer, since: string, nextAttemptAt: optional(string) }))),
})
export const inboxCount = object({ total: integer })

const answerReceipt: TypedSchema<AnswerReceipt> = object({
  userTaskId: string,
  status: string,
  approvals: object({ have: integer, need: integer }),
  runStatus: string,
})

export const receiptsAnswer = listAnswer(answerReceipt)

/** Of several tasks, each with its receipt or why it was refused. */
export const decidedTasks = resultsAnswer(answerReceipt, 'userTaskId')

export const claimedTasks = resultsAnswer(inboxTask, 'userTaskId')
