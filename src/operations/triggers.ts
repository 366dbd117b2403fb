/** Who and what may start an agent. Source: docs/design/http.md#keys-and-triggers */
import type { OperationTable } from './operation.ts'
import {
  anyJsonObject,
  boolean,
  described,
  integerFrom,
  list,
  listAnswer,
  nullable,
  object,
  oneOf,
  optional,
  optionalFields,
  string,
  textUpTo,
  type ValueOf,
} from './schema.ts'
import { reference } from './shared.ts'

const limit = described(nullable(integerFrom(1)), 'Null: no limit.')

/** What may be changed later: in the same fields of the answer, of the store and of both requests. */
export const triggerSettings = {
  exposeTimeline: boolean,
  allowDelete: described(boolean, 'Whether keys may erase ended sessions of the trigger.'),
  allowApprovals: described(boolean, 'Whether keys may answer the approvals of runs that the trigger starts.'),
  allowOlderVersions: described(boolean, 'Whether keys may name a version that may do more than the deployed one.'),
  allowIps: list(string),
  ratePerMinute: limit,
  ratePerDay: limit,
  maxConcurrentRuns: limit,
}

const type = oneOf('api', 'schedule')
const startInput = described(optional(anyJsonObject), 'With which a schedule starts runs.')

export const triggerView = object({
  triggerId: string,
  agentId: string,
  agent: string,
  type,
  name: string,
  active: boolean,
  ...triggerSettings,
  cron: nullable(string),
  timeZone: nullable(string),
  input: described(
    nullable(anyJsonObject),
    'With which a schedule starts runs; null for `{}`, and for triggers of the API.',
  ),
  inputProblem: described(nullable(string), 'Why the deployed version refuses this input; null where it takes it.'),
  inputProblemCode: described(nullable(string), 'Code of that failure.'),
  refused: described(
    nullable(object({ at: string, code: string, message: string })),
    'Why the last tick of the schedule started no run; null where it did.',
  ),
  next: described(list(string), 'The next ticks of an active schedule, at most 5; empty for others.'),
  createdAt: string,
})
export type TriggerView = ValueOf<typeof triggerView>

export const triggerOperations = {
  'POST /triggers': {
    body: object({
      agent: reference,
      type,
      name: optional(textUpTo(100)),
      cron: optional(string),
      timeZone: optional(string),
      input: startInput,
      ...optionalFields(triggerSettings),
    }),
    answer: triggerView,
  },
  'PATCH /triggers/:id': {
    about: 'What is absent stays as it is.',
    body: object({ active: optional(boolean), input: startInput, ...optionalFields(triggerSettings) }),
    answer: triggerView,
  },
  'DELETE /triggers/:id': { about: 'Revokes its keys as well.', answer: object({ triggerId: string }) },
  'GET /triggers': { query: { agent: optional(string) }, answer: listAnswer(triggerView) },
} satisfies OperationTable
