/** `--json` answers of the commands that steer runs. */
import { PAUSE_KINDS } from '../../spec/steer/pause.ts'
import type { OperatorRoutes } from '../../spec/operator.ts'
import type { PauseView } from '../../spec/operator-views.ts'
import { runView } from './drive.ts'
import { boolean, integer, list, listAnswer, nullable, object, oneOf, string, type AnswerSchema } from './schema.ts'

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
