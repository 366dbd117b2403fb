/** Tasks that wait for people. */
import type { TaskContent } from '../spec/api.ts'
import type { TaskPeople } from '../spec/task.ts'
import type { OperationTable } from './operation.ts'
import {
  anyJson,
  anyJsonObject,
  apiBody,
  boolean,
  described,
  extended,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  optional,
  string,
  typedJson,
  type ValueOf,
} from './schema.ts'
import { ending } from './shared.ts'

/** A task without what only its card needs, as `svc inbox --json` has it. */
export const inboxTask = object({
  userTaskId: string,
  kind: string,
  runId: string,
  sessionId: string,
  agent: string,
  tool: optional(string),
  args: optional(anyJson),
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
export type InboxTask = ValueOf<typeof inboxTask>

const inboxItem = extended(inboxTask, {
  task: described(
    optional(apiBody<TaskContent>('TaskContent')),
    'As in `UserTaskReq.content`, for the card; absent for `reply`.',
  ),
  people: described(optional(typedJson<TaskPeople>()), 'For the card; absent for `reply`.'),
})
export type InboxItem = ValueOf<typeof inboxItem>

const probeView = object({
  userTaskId: string,
  name: string,
  arguments: anyJsonObject,
  result: anyJson,
  isError: boolean,
})
/** Call and result of the probe tool that the author named. */
export type ProbeView = ValueOf<typeof probeView>

export const taskOperations = {
  'GET /tasks': {
    query: {
      ending: optional(ending),
      agent: optional(string),
      kind: described(optional(string), 'Separated by commas.'),
      all: optional(boolean),
      operator: optional(boolean),
    },
    answer: listAnswer(inboxItem),
  },
  'GET /tasks/:id': { answer: inboxItem },
  'GET /tasks/:id/similar': {
    about: 'Decided tasks about the same tool and the same agent, newest first, at most 20.',
    answer: listAnswer(inboxItem),
  },
  'POST /tasks/:id/claim': {
    about:
      'Shows others for 15 minutes that the caller is looking at the task; `leave` ends this. Anybody may still decide it.',
    body: object({ leave: optional(boolean) }),
    answer: inboxItem,
  },
  'POST /tasks/:id/probe': {
    about: 'Checks whether a call of unknown outcome happened, with the read-only tool that its author named.',
    answer: probeView,
  },
} satisfies OperationTable
