import type { InboxItem, ProbeView } from '../../spec/operator/inbox.ts'
import type { AnswerReceipt } from '../runs/task-channel.ts'
import {
  anyValue,
  boolean,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  optional,
  resultsAnswer,
  string,
  type AnswerSchema,
} from './schema.ts'

/** Without the fields that only the card needs. */
export const inboxItem: AnswerSchema<Omit<InboxItem, 'task' | 'people'>> = object({
  userTaskId: string,
  kind: string,
  runId: string,
  sessionId: string,
  agent: string,
  tool: optional(string),
  args: optional(anyValue),
  argsDigest: optional(string),
  why: string,
  reason: nullable(string),
  options: optional(list(object({ id: string, label: string }))),
  approvals: object({ have: integer, need: integer, by: list(string) }),
  createdAt: string,
  expiresAt: nullable(string),
  onTimeout: nullable(string),
  apiCompletable: boolean,
  status: string,
})

export const inboxAnswer = object({
  items: list(inboxItem),
  total: integer,
  held: optional(list(object({ reason: string, runs: integer, since: string, nextAttemptAt: optional(string) }))),
})
export const inboxCount = object({ total: integer })

const answerReceipt: AnswerSchema<AnswerReceipt> = object({
  userTaskId: string,
  status: string,
  approvals: object({ have: integer, need: integer }),
  runStatus: string,
})

export const receiptsAnswer = listAnswer(answerReceipt)

/** Of several tasks, each with its receipt or why it was refused. */
export const decidedTasks = resultsAnswer(answerReceipt, 'userTaskId')

export const claimedTasks = resultsAnswer(inboxItem, 'userTaskId')

export const probeAnswer: AnswerSchema<ProbeView> = object({
  userTaskId: string,
  name: string,
  arguments: anyValue,
  result: anyValue,
  isError: boolean,
})
