/** Runs: what they do, and what a person lets them do. */
import type { JsonObject } from '../base/json/json.ts'
import type { CancelBody, MessageAccepted, StartRunResponse, TimelineItem } from '../spec/api.ts'
import type { OperationTable } from './operation.ts'
import {
  anyJsonObject,
  anyValue,
  apiBody,
  boolean,
  bounded,
  described,
  extended,
  integer,
  integerFrom,
  list,
  listAnswer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  textUpTo,
  type TypedSchema,
  type ValueOf,
} from './schema.ts'
import type { GivenAssertion } from '../spec/people/passkey.ts'
import { givenAssertion } from './passkeys.ts'
import { pauseView } from './pauses.ts'
import { costSum, effectOutcome, ending, pageFields, reference, runHold, undoingRun, versionLabel } from './shared.ts'

export const runView = object({
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
  cost: described(optional(costSum), 'What the completions of this run cost; absent where nothing was billed.'),
  inputPreview: described(optional(string), 'The beginning of its input, in one line; where `preview` was asked for.'),
  trigger: string,
  waitingOn: optional(string),
  hold: optional(runHold),
  retryOf: optional(string),
  forkOf: optional(string),
  forkStep: optional(integer),
  undoOf: optional(string),
  undoneCall: optional(string),
})
export type RunView = ValueOf<typeof runView>

const migratedRun = extended(runView, {
  changed: described(boolean, 'False where the run is on the version already.'),
})

const order = oneOf('started', 'duration', 'tokens', 'cost')
/** What a list of runs is ordered by. */
export type RunOrder = ValueOf<typeof order>

const runHolders = object({
  runId: string,
  hold: described(nullable(runHold), 'Null where the run is not held.'),
  pauses: described(list(pauseView), 'Pauses that stop what the run or one below it would do next.'),
  outages: described(
    list(object({ runId: string, cause: string, since: string, failures: integer, until: string })),
    'Outages that runs of it meet; `until` is when such a run fails.',
  ),
})
export type RunHolders = ValueOf<typeof runHolders>

/**
 * A step in an outline: its ordinal, the index of its run, its type, what it is about, when it began and ended in milliseconds,
 * tokens, the id of its call, and 1 where it is an error.
 */
export type OutlineRow = readonly [
  ordinal: number,
  run: number,
  type: string,
  summary: string,
  startedAt: number,
  finishedAt: number | null,
  tokens: number | null,
  callId: string | null,
  isError: 0 | 1,
]
const outlineRow: TypedSchema<OutlineRow> = anyValue

const outlineRun = object({
  runId: string,
  parentRunId: nullable(string),
  parentCallId: described(nullable(string), 'The call of its parent that the run answers.'),
  depth: integer,
  agent: string,
  versionLabel: string,
  status: string,
  startedAt: string,
  finishedAt: nullable(string),
  totalTokensUsed: integer,
  cost: optional(costSum),
})
export type OutlineRun = ValueOf<typeof outlineRun>

const runBudget = object({
  limit: oneOf('max_tokens_per_run', 'max_loop_iterations', 'max_wall_clock_seconds', 'max_hitl_wait_minutes'),
  used: number,
  most: described(number, 'Including what an operator granted.'),
})
export type RunBudget = ValueOf<typeof runBudget>

const runOutline = object({
  runId: string,
  sessionId: string,
  runs: described(list(outlineRun), 'The run and those below it, each after its parent.'),
  budgets: described(list(runBudget), 'Of the run itself, where its version sets limits.'),
  rows: described(
    list(outlineRow),
    'In order, each a list: ordinal, index of the run, type, summary, start and end in milliseconds, tokens, call, 1 for an error.',
  ),
  after: described(integer, 'Number of the last step that was read: where the next outline goes on.'),
  hasMore: boolean,
  lastEvent: described(integer, 'Number of the last event of the session when this was read.'),
})
export type RunOutline = ValueOf<typeof runOutline>

const callView = object({
  runId: string,
  agent: string,
  toolCallId: string,
  tool: described(string, 'Logical id of the tool or agent.'),
  state: described(string, 'Outcome.'),
  attempts: described(integer, 'The attempt that it is at, from 1.'),
  idempotencyKey: string,
  argsDigest: string,
  at: described(string, 'Of the last change.'),
  effect: described(
    optional(object({ key: string, holds: boolean, outcome: effectOutcome })),
    'The effect key that it took; absent where its tool has none.',
  ),
  undoneBy: described(optional(undoingRun), 'The newest run that undoes it, or has undone it or failed to.'),
  undoes: described(
    optional(object({ runId: string, toolCallId: string, tool: string })),
    'Where it undoes another call: that one.',
  ),
})
export type CallView = ValueOf<typeof callView>

const rehearsal = object({
  model: described(
    optional(bounded(string, { minLength: 3, maxLength: 300 })),
    '`provider/name`, asked instead of the models of every agent.',
  ),
  record: described(optional(textUpTo(4096)), 'Absolute path of the recording to write: what models and tools answer.'),
  replay: described(
    optional(textUpTo(4096)),
    'Absolute path of a recording: no model and no tool is asked. Not with `record`.',
  ),
})
/** Changes to a run for development: other models, recordings. */
export type RehearsalOptions = ValueOf<typeof rehearsal>

const reason = optional(bounded(string, { maxLength: 2000 }))
const person = bounded(string, { maxLength: 300 })

const messageBody: TypedSchema<JsonObject & { readonly as?: string; readonly passkey?: GivenAssertion }> = object({
  as: described(optional(textUpTo(300)), 'The identity that the request has.'),
  passkey: described(optional(givenAssertion), 'What a passkey signed about what its owner was shown.'),
})

export const runOperations = {
  'POST /runs': {
    about: 'Starts without a key, as the operator. `agent` is an id or `namespace.name`.',
    body: object({
      agent: reference,
      input: optional(anyJsonObject),
      version: described(
        optional(textUpTo(256)),
        'Label of a published version, executed in place of the deployed one.',
      ),
      rehearsal: described(
        optional(rehearsal),
        "A rehearsal, which differs from what the agent's documents say. Only a development server accepts it.",
      ),
    }),
    answer: apiBody<StartRunResponse>('StartRunResponse'),
  },
  'GET /runs': {
    query: {
      ending: optional(ending),
      agent: optional(string),
      status: described(optional(string), 'Separated by commas.'),
      waiting: optional(boolean),
      since: optional(string),
      until: described(optional(string), 'Started before this time.'),
      sort: described(optional(order), 'The largest first, of the newest 10,000 that the other filters let through.'),
      minDuration: described(optional(integerFrom(0)), 'Milliseconds.'),
      minTokens: optional(integerFrom(0)),
      minCost: described(
        optional(
          bounded(string, { pattern: '^\\d{1,12}(\\.\\d{1,12})?$', message: 'must be an amount, such as 0.50' }),
        ),
        'Amounts of all currencies together.',
      ),
      session: optional(string),
      search: described(
        optional(bounded(string, { maxLength: 200 })),
        'Words of its input, or of its output and error; or the end of its id.',
      ),
      tool: described(optional(person), 'Id of a tool that it called.'),
      effect: described(optional(bounded(string, { maxLength: 4096 })), 'Effect key that a call of it took.'),
      version: described(optional(bounded(string, { maxLength: 128 })), 'Label of its version.'),
      trigger: described(optional(person), 'Name of the trigger that started it; `operator` where none did.'),
      person: described(optional(person), 'Who started it or voted in it, with or without `operator:`.'),
      approver: described(optional(person), 'Who voted, with or without `operator:`.'),
      label: described(
        optional(bounded(string, { maxLength: 600, pattern: '^[^=]+=', message: 'must be a name, = and a value' })),
        'A member of its metadata.',
      ),
      preview: optional(boolean),
      roots: described(optional(boolean), 'Without sub-agent runs.'),
      ...pageFields,
    },
    answer: listAnswer(runView),
  },
  'GET /runs/:id/holders': {
    about: 'What holds the run: who paused it, when and why, or what is out of reach and for how long it may be.',
    answer: runHolders,
  },
  'GET /runs/:id/outline': {
    about: 'Steps of the run and those below it, without their content.',
    query: {
      after: optional(integerFrom(0)),
      take: described(optional(integerFrom(1, 20_000)), 'About how many rows at most.'),
    },
    answer: runOutline,
  },
  'GET /runs/:id/step': {
    about: "One step of the run's session, whole.",
    query: { ordinal: integerFrom(1) },
    answer: apiBody<TimelineItem>('TimelineItem'),
  },
  'GET /runs/:id/calls': {
    about: 'The calls of the run and those below it, in the order of their last change.',
    answer: listAnswer(callView),
  },
  'GET /runs/:id/scenario': {
    about: 'The run with its sub-agents as a scenario for `svc test`, in YAML.',
    query: { name: optional(textUpTo(300)) },
    answer: object({ text: string }),
  },
  'POST /runs/:id/cancel': {
    body: apiBody<CancelBody>('CancelBody'),
    answer: object({ runId: string, before: string, after: string }),
  },
  'POST /runs/:id/resume': {
    about: 'Continues a run that failed, was cancelled or is held where it stopped.',
    body: object({
      reason,
      version: described(optional(versionLabel), 'Label of the version that the run goes on with.'),
      allowWiden: described(optional(boolean), 'Without it a version that may do more is refused.'),
      allowYanked: optional(boolean),
      grant: described(optional(boolean), 'Grants the limit that ended the run once more.'),
    }),
    answer: runView,
  },
  'POST /runs/:id/migrate': {
    about: 'Moves a waiting run to a version that may do no more.',
    body: object({ version: described(versionLabel, 'Label of the version that the run moves to.'), reason }),
    answer: migratedRun,
  },
  'POST /runs/:id/retry': {
    about: 'A new run of the deployed version with the same input.',
    body: object({}),
    answer: runView,
  },
  'POST /runs/:id/messages': {
    about: "As `POST /v1/runs/{runId}/messages`, with the operator's authority.",
    body: messageBody,
    answer: apiBody<MessageAccepted>('MessageAccepted'),
  },
} satisfies OperationTable
