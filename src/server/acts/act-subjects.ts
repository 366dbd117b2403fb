/** What acts on runs and sessions concern, for the operator's routes and those of `/v1`. */
import type { SessionId } from '../../base/ids.ts'
import type { MessageAccepted, MessageBody } from '../../spec/api.ts'
import type { Run } from '../../spec/run/run.ts'
import type { SessionLabels } from '../../store/queries.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { ActAbout, MakeAct } from '../../spec/people/act.ts'

/** `run 8f3a… of demo.agent` */
export const describeRun = ({ id, agentName }: Pick<Run, 'id' | 'agentName'>): string => `run ${id} of ${agentName}`

/** What a person decided, or that they said something: the text itself is a step of the run. */
export const describeAnswer = (run: Run, { userTaskId, approved, selectedOptionId, steer }: MessageBody): ActAbout => ({
  subject: userTaskId === undefined ? describeRun(run) : `task ${userTaskId} of ${describeRun(run)}`,
  run,
  after: {
    ...(approved !== undefined && { approved }),
    ...(selectedOptionId !== undefined && { option: selectedOptionId }),
    ...(steer !== undefined && { steer }),
  },
})

/** Records an answer that was refused, which is no failure of its request. @returns the answer */
export async function recordRefusedAnswer(
  { refusedActs }: ServerServices,
  act: MakeAct | undefined,
  about: ActAbout,
  accepted: MessageAccepted,
): Promise<MessageAccepted> {
  if (act && accepted.code !== undefined)
    await refusedActs.record(act('run.answered', { ...about, refused: accepted.code }))
  return accepted
}

/** Names of what was set: the labels themselves are content of the session. */
export const describeLabels = (id: SessionId, { legalHold, ...labels }: SessionLabels): ActAbout => ({
  subject: `session ${id}`,
  session: id,
  after: { labels: Object.keys(labels), ...(legalHold !== undefined && { legalHold }) },
})

export const describeErasure = (id: SessionId): ActAbout => ({ subject: `session ${id}`, session: id })
