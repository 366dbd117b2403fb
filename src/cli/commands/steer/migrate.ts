/** `svc runs migrate`. Source: docs/design/steering.md#migrate */
import { fail } from '../../../base/failure.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { migratedRuns } from '../../answers/drive.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { resolveAgent, runIdsOf } from '../../project/reference.ts'
import { actOnEach } from '../../shell/act-on-each.ts'
import type { CommandContext } from '../../shell/command.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

/** Statuses of waiting runs. Working runs are moved only while they are held. */
const OPEN = 'WaitingForHITL,WaitingForAITL,WaitingForResponse,Running'
const MOST = 500

export async function runsMigrate(call: CommandContext<ValueOf<typeof migratedRuns>>): Promise<number> {
  const { given, mode, out } = call
  const [agent, version, reason] = [given.text('agent'), given.text('to'), given.text('reason')]
  const named = given.rest(0)
  if (version === undefined) throw usageFailure('Name the version: --to 1.4.1.')
  if ((agent === undefined) === (named.length === 0)) throw usageFailure('Name runs, or all of one agent with --agent.')
  return await withOperator(call, async (operator) => {
    const ids = agent === undefined ? await runIdsOf(named, operator) : await runsOf(operator, agent, version)
    if (ids.length === 0 && !mode.json) out.line('No run of it waits.')
    return await actOnEach(
      call,
      ids,
      async (id) => {
        const body = { version, ...(reason !== undefined && { reason }) }
        const run = await operator.call('POST /runs/:id/migrate', { id, body })
        const how = run.changed ? 'moved to' : 'is on'
        if (!mode.json)
          out.line(`${shortId(id)} ${how} ${run.versionLabel}${run.changed ? '' : '; nothing has changed'}`)
        return run
      },
      (runId, error) => ({ runId, error }),
    )
  })
}

/** Asks for the version first: each run would be refused in the same words. */
async function runsOf(operator: OperatorClient, agent: string, version: string): Promise<readonly string[]> {
  const { agentId, name } = await resolveAgent(agent, operator)
  const versions = (await operator.call('GET /versions', { query: { agent: agentId } })).items
  if (!versions.some(({ versionLabel }) => versionLabel === version))
    throw fail('not_found', { what: `version "${name}@${version}"` })
  const { items } = await operator.call('GET /runs', { query: { agent: agentId, status: OPEN, take: String(MOST) } })
  return items.filter(({ parentRunId }) => parentRunId === null).map(({ runId }) => runId)
}
