import type { RunView } from '../../../operations/runs.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import { describeHold } from '../../../spec/run/hold.ts'
import { OUTAGE_REASONS } from '../../../spec/run/outage.ts'
import { askOfRun, eachCommand, requestCommand } from '../../project/request-command.ts'
import { runIdsOf } from '../../project/reference.ts'
import { timesFor } from '../../runs/held.ts'

/** Resumes runs that ended or are held. */
export const runsResume = eachCommand('POST /runs/:id/resume', {
  find: runIdsOf,
  ask: ({ given }) => {
    const [reason, version] = [given.text('reason'), given.text('with-version')]
    return {
      body: {
        ...(reason !== undefined && { reason }),
        ...(version !== undefined && { version }),
        ...(given.flag('allow-widen') && { allowWiden: true }),
        ...(given.flag('allow-yanked') && { allowYanked: true }),
        ...(given.flag('grant') && { grant: true }),
      },
    }
  },
  toItem: (run) => run,
  describe(run, { io }) {
    // The attempt of a held run begins as this is printed.
    const how = OUTAGE_REASONS.some((each) => each === run.hold?.reason) ? 'tries again now' : 'continues'
    return `${shortId(run.runId)} ${how}: ${describeRun(run, timesFor(io.stdout, io.clock))}`
  },
  idField: 'runId',
})

export const runsRetry = requestCommand(
  'POST /runs/:id/retry',
  (call) => async (operator) => ({ ...(await askOfRun(call)(operator)), body: {} }),
  ({ io, out }, run) => {
    const state = describeRun(run, timesFor(io.stdout, io.clock))
    out.line(`${shortId(run.runId)} repeats ${shortId(run.retryOf ?? '')}: ${state}`)
    out.hint(`svc runs watch ${shortId(run.runId)}`)
  },
)

const describeRun = ({ agent, versionLabel, status, hold }: RunView, showTime: (iso: string) => string): string =>
  safeText(`${agent}@${versionLabel} is ${status}${hold ? `, held ${describeHold(hold, showTime)}` : ''}`)
