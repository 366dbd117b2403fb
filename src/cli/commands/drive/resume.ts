import type { RunView } from '../../../operations/runs.ts'
import { safeText } from '../../../base/escape-text.ts'
import { shortId } from '../../../base/short-text.ts'
import { describeHold } from '../../../spec/hold.ts'
import { OUTAGE_REASONS } from '../../../spec/outage.ts'
import type { steeredRuns } from '../../answers/drive.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { actOnEach } from '../../shell/act-on-each.ts'
import type { CommandContext } from '../../shell/command.ts'
import { runIdOf, runIdsOf } from '../../project/reference.ts'
import { timesFor } from '../../runs/held.ts'

/** Resumes runs that ended or are held. */
export async function runsResume(call: CommandContext<ValueOf<typeof steeredRuns>>): Promise<number> {
  const { given, io, mode, out } = call
  const [reason, version] = [given.text('reason'), given.text('with-version')]
  const body = {
    ...(reason !== undefined && { reason }),
    ...(version !== undefined && { version }),
    ...(given.flag('allow-widen') && { allowWiden: true }),
    ...(given.flag('allow-yanked') && { allowYanked: true }),
    ...(given.flag('grant') && { grant: true }),
  }
  return await withOperator(await openProject(call), call, async (operator) =>
    actOnEach(
      call,
      await runIdsOf(given.rest(0), operator),
      async (id) => {
        const run = await operator.call('POST /runs/:id/resume', { id, body })
        // The attempt of a held run begins as this is printed.
        const how = OUTAGE_REASONS.some((each) => each === run.hold?.reason) ? 'tries again now' : 'continues'
        if (!mode.json) out.line(`${shortId(run.runId)} ${how}: ${describeRun(run, timesFor(io.stdout, io.clock))}`)
        return run
      },
      (runId, error) => ({ runId, error }),
    ),
  )
}

export async function runsRetry(call: CommandContext<RunView>): Promise<void> {
  const { given, io, mode, out } = call
  await withOperator(await openProject(call), call, async (operator) => {
    const id = await runIdOf(given.argument(0)!, operator)
    const run = await operator.call('POST /runs/:id/retry', { id, body: {} })
    if (mode.json) return await out.json(run)
    out.line(`${shortId(run.runId)} repeats ${shortId(id)}: ${describeRun(run, timesFor(io.stdout, io.clock))}`)
    out.hint(`svc runs watch ${shortId(run.runId)}`)
  })
}

const describeRun = ({ agent, versionLabel, status, hold }: RunView, showTime: (iso: string) => string): string =>
  safeText(`${agent}@${versionLabel} is ${status}${hold ? `, held ${describeHold(hold, showTime)}` : ''}`)
