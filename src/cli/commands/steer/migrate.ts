/** `svc runs migrate`. Source: command line, 2.7. */
import { shortId } from '../../../base/short-text.ts'
import type { RunView } from '../../../spec/operator/runs.ts'
import type { runsAnswer } from '../../answers/drive.ts'
import type { AnswerOf } from '../../answers/schema.ts'
import { withOperator, type OperatorClient } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { resolveAgent, runIdOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { RemoteError } from '../../shell/remote.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

/** Statuses of waiting runs. Working runs are moved only while they are held. */
const OPEN = 'WaitingForHITL,WaitingForAITL,WaitingForResponse,Running'
const MOST = 500

/** With `--agent`, reports and skips the runs that cannot move; a named run that cannot move ends the command. */
export async function runsMigrate(call: CommandContext<AnswerOf<typeof runsAnswer>>): Promise<number> {
  const { given, mode, out } = call
  const [agent, version, reason] = [given.text('agent'), given.text('to'), given.text('reason')]
  const named = given.rest(0)
  if (version === undefined) throw usageFailure('Name the version: --to 1.4.1.')
  if ((agent === undefined) === (named.length === 0)) throw usageFailure('Name runs, or all of one agent with --agent.')
  return await withOperator(await openProject(call), call, async (operator) => {
    const ids =
      agent === undefined
        ? await Promise.all(named.map((text) => runIdOf(text, operator)))
        : await runsOf(operator, agent)
    const items: RunView[] = []
    const refusals = new Set<number>()
    for (const id of ids) {
      try {
        const { changed, ...run } = await operator.call('POST /runs/:id/migrate', {
          id,
          body: { version, ...(reason !== undefined && { reason }) },
        })
        if (changed) items.push(run)
        if (!mode.json)
          out.line(
            `${shortId(id)} ${changed ? 'moved to' : 'is on'} ${run.versionLabel}${changed ? '' : '; nothing has changed'}`,
          )
      } catch (error) {
        // A missing version is the same error for all runs.
        if (agent === undefined || !(error instanceof RemoteError) || error.status === 404) throw error
        refusals.add(error.exit)
        out.message(`${shortId(id)} stays where it is: ${error.message}`)
      }
    }
    if (mode.json) await out.json({ items, total: items.length })
    else if (ids.length === 0) out.line('No run of it waits.')
    const [exit = 0, ...others] = refusals
    return others.length > 0 ? 6 : exit
  })
}

async function runsOf(operator: OperatorClient, agent: string): Promise<readonly string[]> {
  const { agentId } = await resolveAgent(agent, operator)
  const { items } = await operator.call('GET /runs', { query: { agent: agentId, status: OPEN, take: String(MOST) } })
  return items.filter(({ parentRunId }) => parentRunId === null).map(({ runId }) => runId)
}
