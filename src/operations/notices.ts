/** Notices for channels outside of svc: what waits, was delivered or could not be. Source: docs/design/notifications.md#the-outbox */
import { NOTICE_EVENTS, NOTICE_STATES, UNROUTED_EVENTS } from '../spec/notice.ts'
import type { OperationTable } from './operation.ts'
import {
  anyJsonObject,
  described,
  integer,
  listAnswer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  textUpTo,
  type ValueOf,
} from './schema.ts'
import { pageFields } from './shared.ts'

const noticeView = object({
  noticeId: described(string, 'The `webhook-id` of its tries.'),
  channel: string,
  event: oneOf(...NOTICE_EVENTS, ...UNROUTED_EVENTS),
  state: described(
    oneOf(...NOTICE_STATES),
    '`moot`: the task that it announced was decided before it was due; `dead`: no try is left.',
  ),
  at: described(string, 'When it happened.'),
  dueAt: described(string, 'When it is tried next, or was last due.'),
  endedAt: nullable(string),
  attempts: described(integer, 'Tries that have an outcome.'),
  error: described(nullable(string), 'Why the last try failed.'),
  runId: nullable(string),
  userTaskId: nullable(string),
  data: described(anyJsonObject, 'What it says, without content.'),
})
export type NoticeView = ValueOf<typeof noticeView>

export const noticeOperations = {
  'GET /notices': {
    about: 'Notices for the channels of `notify`, newest first.',
    query: {
      id: optional(string),
      state: optional(oneOf(...NOTICE_STATES)),
      channel: optional(string),
      task: described(optional(string), 'Only those about this task, oldest first.'),
      ...pageFields,
    },
    answer: listAnswer(noticeView),
  },
  'POST /notices/:id/retry': {
    about: 'Sends an ended notice again, with all its tries and the same `webhook-id`.',
    answer: noticeView,
  },
  'POST /notices/test': {
    about: 'Sends a `notify.test` to a channel, and waits a little for the outcome of its first try.',
    body: object({ channel: textUpTo(64) }),
    answer: noticeView,
  },
} satisfies OperationTable
