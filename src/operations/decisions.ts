/** Recorded decisions, decided again: what a policy did, and what an edited one would do. */
import type { DecisionFlip, ExplainedDecision, WrittenFinding, WrittenPolicy } from '../spec/explanation.ts'
import type { OperationTable } from './operation.ts'
import {
  anyJson,
  anyJsonObject,
  boolean,
  bounded,
  described,
  integer,
  integerFrom,
  list,
  object,
  oneOf,
  optional,
  string,
  textUpTo,
  typedJson,
  type TypedSchema,
  type ValueOf,
} from './schema.ts'
import { pageFields, reference, versionLabel } from './shared.ts'
import { changeView, fileText } from './versions.ts'

const history: TypedSchema<Readonly<Record<string, number | null>>> = {
  schema: { type: 'object', additionalProperties: { type: ['number', 'null'] } },
}

/** A recorded decision with the data to repeat it. */
export const decisionRecord = object({
  decisionId: string,
  runId: string,
  sessionId: string,
  agent: string,
  versionLabel: string,
  ancestors: described(
    list(object({ agent: string, versionLabel: string })),
    'Agents above in the run tree, nearest first: their boundaries were inherited.',
  ),
  toolCallId: string,
  tool: described(string, 'Wire name.'),
  ref: described(string, 'Logical id.'),
  arguments: anyJson,
  argsDigest: string,
  state: described(string, 'Outcome of the call.'),
  decision: string,
  explanation: string,
  policies: list(anyJson),
  recordedAt: string,
  facts: described(
    anyJsonObject,
    'Roots of conditions but `args`, `history` and `time`: `tool`, `agent`, `run`, `session`, `principal`, `effect`, `svc`.',
  ),
  history: described(history, 'Values of `history` that the decision used, by path and window; null = unknown.'),
})
export type RecordedDecision = ValueOf<typeof decisionRecord>

const findings = list(typedJson<WrittenFinding>())

const decideView = object({
  recorded: decisionRecord,
  before: described(typedJson<ExplainedDecision>(), 'With the recorded policies and arguments.'),
  after: described(
    optional(typedJson<ExplainedDecision>()),
    'With the edits; absent without edits, and if `findings` has an error.',
  ),
  documents: described(list(typedJson<WrittenPolicy>()), 'Documents of the evaluated policies, if they were stored.'),
  findings: described(findings, 'About the edited documents.'),
})
export type DecideView = ValueOf<typeof decideView>

/** As `svc policy backtest --json`, with more for the console. */
const whatIfView = object({
  calls: integer,
  flips: list(typedJson<DecisionFlip>()),
  assumed: optional(list(string)),
  decisions: described(list(string), 'Ids of the decisions of `flips`, in their order.'),
  changes: described(
    list(object({ was: string, now: string, flips: integer })),
    'All flips, also those beyond `flips`.',
  ),
  authority: described(
    optional(object({ widens: boolean, changes: list(changeView) })),
    'What the edited version may do that the one it was edited from could not. Absent where none was named.',
  ),
  findings: described(findings, 'About the edited documents; with an error among them nothing was decided.'),
})
export type WhatIfView = ValueOf<typeof whatIfView>

const base = described(
  optional(object({ agent: reference, version: optional(versionLabel) })),
  'The publication that the edited documents belong to; its deployed version when absent.',
)
const edits = bounded(list(fileText), { maxItems: 100 })

export const decisionOperations = {
  'POST /lint': {
    about: 'Findings of lint about edited documents.',
    isQuestion: true,
    body: object({ base, edits }),
    answer: object({ findings }),
  },
  'POST /decide': {
    about: 'Decides a recorded call again, with other arguments or edited policies; has no effect.',
    isQuestion: true,
    body: object({
      run: textUpTo(100),
      decision: described(textUpTo(100), 'Its id.'),
      arguments: described(optional(anyJson), 'In place of the recorded ones.'),
      base,
      edits: optional(edits),
    }),
    answer: decideView,
  },
  'POST /what-if': {
    about: 'Decides recorded calls again by edited policies; answers those whose decision would change, oldest first.',
    isQuestion: true,
    body: object({
      base,
      edits,
      agent: described(optional(textUpTo(300)), 'Only calls of this agent.'),
      since: described(optional(string), 'An RFC 3339 time.'),
      take: described(optional(integerFrom(0, 1000)), 'Flips in the answer; 200 when absent.'),
    }),
    answer: whatIfView,
  },
  'GET /decisions': {
    about:
      "Recorded policy decisions, oldest first: of a run's whole tree, of an agent, since an RFC 3339 time. With `take` the last so many; `skipped` are earlier ones that the page leaves out.",
    query: {
      run: optional(string),
      agent: optional(string),
      since: optional(string),
      values: described(optional(oneOf('ref')), 'ref = arguments of more than 4 KiB come as references.'),
      ...pageFields,
      with: described(
        optional(bounded(string, { maxLength: 300 })),
        'Without skip, a page that has this decision, call or digest of arguments; otherwise the last page.',
      ),
    },
    answer: object({ items: list(decisionRecord), total: integer, skipped: optional(integer) }),
  },
  'POST /policies/revoke': {
    about:
      'Ends the grants with this `svc/standing`, or restores them with `undo`; `changed` is false if nothing changed.',
    body: object({ name: textUpTo(300), reason: textUpTo(1000), undo: optional(boolean) }),
    answer: object({ name: string, revoked: boolean, changed: boolean, agents: list(string) }),
  },
} satisfies OperationTable
