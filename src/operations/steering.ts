/** Undo, forks, pauses and effect keys: what people change about what runs did, or may do. */
import { PAUSE_KINDS } from '../spec/steer/pause.ts'
import type { OperationTable } from './operation.ts'
import {
  anyJson,
  anyValue,
  boolean,
  bounded,
  described,
  extended,
  integer,
  integerFrom,
  list,
  listAnswer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  textUpTo,
  type ValueOf,
} from './schema.ts'
import { pauseView } from './pauses.ts'
import { runView } from './runs.ts'
import { costSum, effectOutcome, pageFields, undoingRun, versionLabel } from './shared.ts'

/** A call of a run, and how it would be undone. */
export const undoItem = object({
  runId: string,
  agent: string,
  toolCallId: string,
  tool: string,
  at: described(string, 'When it was made.'),
  arguments: anyJson,
  state: described(oneOf('open', 'under_way', 'undone', 'final'), '`open`: it can be undone; `final`: it cannot.'),
  why: described(optional(string), 'Why it cannot be undone; for an open call, why the newest attempt failed.'),
  undo: described(
    optional(
      object({
        tool: string,
        arguments: anyJson,
        decision: oneOf('allow', 'require_approval', 'escalate', 'deny'),
        explanation: string,
        approvals: described(optional(integer), 'How many people must approve.'),
      }),
    ),
    "Of an open call: the undoing call and the policies' decision on it.",
  ),
  undoneBy: described(optional(undoingRun), 'Of one that is undone or under way.'),
})
export type UndoItemView = ValueOf<typeof undoItem>

const undoPlan = object({
  runId: string,
  agent: string,
  versionLabel: string,
  status: string,
  items: described(list(undoItem), 'Newest first.'),
  total: integer,
  undoable: described(integer, 'Number of calls that can be undone and are not denied.'),
})
export type UndoPlanView = ValueOf<typeof undoPlan>

const dryDifference = object({
  what: described(
    oneOf('called', 'not_called', 'decided'),
    'An additional call, a missing call, or one with a different decision.',
  ),
  tool: described(string, 'Wire name.'),
  arguments: anyJson,
  was: described(optional(string), "The policies' decisions."),
  would: optional(string),
})
/** Calls are matched by name and arguments. */
export type DryDifference = ValueOf<typeof dryDifference>

const wasAndWould = object({ was: string, would: string })

/** The recorded run compared with the repeated one. Source: docs/design/steering.md#fork */
export const dryFork = object({
  runId: described(string, 'The run that was repeated.'),
  at: integer,
  versionLabel: wasAndWould,
  status: wasAndWould,
  output: object({ was: anyJson, would: anyJson, isSame: boolean }),
  error: object({ was: nullable(string), would: nullable(string) }),
  stopped: described(optional(string), 'Why it was not played to its end; absent if it was.'),
  differences: list(dryDifference),
  differs: described(boolean, 'True where its calls, decisions or status differ, or it was stopped.'),
  tokens: described(integer, 'Of its completions alone.'),
  cost: optional(costSum),
})
export type DryForkView = ValueOf<typeof dryFork>

const effectView = object({
  key: described(string, 'The stored key: a digest if longer than 512 bytes. `shown` is the shortened text.'),
  shown: string,
  holds: boolean,
  outcome: effectOutcome,
  tool: string,
  toolVersion: string,
  agent: string,
  versionLabel: string,
  runId: string,
  sessionId: string,
  toolCallId: string,
  at: string,
  expiresAt: described(nullable(string), 'When a call that was made stops holding the key; null = never.'),
  approvedBy: list(string),
  released: optional(object({ at: string, by: string, reason: string })),
  undoneBy: described(optional(undoingRun), 'The run that has undone the call.'),
})
/** A call that took an effect key. */
export type EffectView = ValueOf<typeof effectView>

const fork = object({
  runs: described(bounded(list(textUpTo(300)), { minItems: 1, maxItems: 50 }), 'Ids of root runs.'),
  at: described(integerFrom(1), 'Ordinal of the last step to take over.'),
  version: described(optional(versionLabel), 'Label of the version; that of each run when absent.'),
  edits: optional(
    bounded(
      list(
        object({
          step: integerFrom(1),
          value: described(anyValue, 'The text of a message or answer, or the result of a call.'),
        }),
      ),
      { maxItems: 50 },
    ),
  ),
  allowWiden: described(optional(boolean), 'Without it a version that may do more is refused.'),
  allowYanked: optional(boolean),
  idempotencyKey: described(
    optional(textUpTo(255)),
    'A second request with the same key returns the forks of the first.',
  ),
})

export const steeringOperations = {
  'GET /runs/:id/undo': {
    about: 'The calls of an ended run and its descendants, and how each would be undone; has no effect.',
    answer: undoPlan,
  },
  'POST /runs/:id/undo': {
    about: 'Undoes calls of an ended run, newest first; the answer is the run that undoes the first.',
    body: object({
      reason: optional(bounded(string, { maxLength: 2000 })),
      calls: described(
        bounded(list(object({ runId: bounded(string, { format: 'uuid' }), toolCallId: textUpTo(300) })), {
          minItems: 1,
          maxItems: 10_000,
        }),
        'The calls to undo, as the plan names them; in any order.',
      ),
    }),
    answer: runView,
  },
  'POST /runs/fork': {
    about:
      'New runs with the first steps of others as they were. Nothing starts where one of them cannot be forked so.',
    body: fork,
    answer: listAnswer(runView),
  },
  'POST /runs/dry-fork': {
    about: 'What such runs would do: calls models, plays tools and people from the recording, stores nothing.',
    isQuestion: true,
    body: fork,
    answer: object({ items: list(dryFork), total: integer, differing: integer }),
  },
  'GET /effects': {
    about: 'Calls that hold an effect key, newest first; `all`: also those that do not any more.',
    query: {
      key: described(optional(string), 'The text of a key, or its digest.'),
      all: optional(boolean),
      since: optional(string),
      ...pageFields,
    },
    answer: listAnswer(effectView),
  },
  'POST /effects/release': {
    about: 'Lets an effect happen again; `items` are the calls that held the key.',
    body: object({ key: textUpTo(65_536), reason: textUpTo(1000) }),
    answer: object({ key: string, items: list(effectView) }),
  },
  'GET /pauses': {
    about: 'What is paused, the oldest first; `all`: every act, the newest first.',
    query: { all: optional(boolean) },
    answer: listAnswer(pauseView),
  },
  'POST /pauses': {
    about:
      'Pauses something, or ends a pause; `changed` is false if nothing changed. `items` are the open runs concerned, `inFlight` counts their effects in flight, which still end, `pauses` are all present pauses.',
    body: object({
      kind: oneOf(...PAUSE_KINDS),
      name: optional(textUpTo(300)),
      paused: boolean,
      reason: optional(textUpTo(1000)),
    }),
    answer: extended(pauseView, {
      changed: boolean,
      inFlight: integer,
      pauses: list(pauseView),
      items: list(runView),
      total: integer,
    }),
  },
} satisfies OperationTable
