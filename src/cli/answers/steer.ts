/** `--json` answers of the commands that steer runs. */
import type { JsonValue } from '../../base/json/json.ts'
import { PAUSE_KINDS } from '../../spec/steer/pause.ts'
import type { OperatorRoutes } from '../../spec/operator/routes.ts'
import type { PauseView } from '../../spec/operator/operations.ts'
import type { UndoItemView, UndoPlanView } from '../../spec/operator/undo.ts'
import { runView, undoingRun } from './drive.ts'
import {
  boolean,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  type AnswerSchema,
} from './schema.ts'

const pause = {
  kind: oneOf(...PAUSE_KINDS),
  name: string,
  paused: boolean,
  at: string,
  by: string,
  reason: nullable(string),
}
const pauseView: AnswerSchema<PauseView> = object(pause)

export const pausesAnswer: AnswerSchema<OperatorRoutes['GET /pauses']['answer']> = listAnswer(pauseView)

/** `items` are the open runs that it concerns. */
export const pausedAnswer: AnswerSchema<OperatorRoutes['POST /pauses']['answer']> = object({
  ...pause,
  changed: boolean,
  inFlight: integer,
  pauses: list(pauseView),
  items: list(runView),
  total: integer,
})

const anyJson: AnswerSchema<JsonValue> = { schema: {} }

const undoItem: AnswerSchema<UndoItemView> = object({
  runId: string,
  agent: string,
  toolCallId: string,
  tool: string,
  at: string,
  arguments: anyJson,
  state: oneOf('open', 'under_way', 'undone', 'final'),
  why: optional(string),
  undo: optional(
    object({
      tool: string,
      arguments: anyJson,
      decision: oneOf('allow', 'require_approval', 'escalate', 'deny'),
      explanation: string,
      approvals: optional(integer),
    }),
  ),
  undoneBy: optional(undoingRun),
})

/** The calls that a run made, newest first. */
export const undoPlan: AnswerSchema<UndoPlanView> = object({
  runId: string,
  agent: string,
  versionLabel: string,
  status: string,
  items: list(undoItem),
  total: integer,
  undoable: integer,
})

/** `items` are the runs that undo `calls`. */
export const undoneRuns = object({ items: list(runView), total: integer, calls: list(undoItem) })
