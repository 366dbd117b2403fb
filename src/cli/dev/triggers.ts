/** Triggers of the project file. Source: command line, 1.5. */
import type { TriggerConfig } from '../../spec/config.ts'
import type { TriggerView } from '../../spec/operator.ts'
import type { OperatorClient } from '../project/operator.ts'

/**
 * Makes those that are not there, and brings those that are there up to date. One that left the project file stays: it may
 * have been made by hand.
 * @param root agent of triggers that name none
 * @throws Failure `validation_failed` for a schedule that is none, `not_found` for an agent that is not deployed
 */
export async function makeTriggers(
  operator: OperatorClient,
  wanted: readonly TriggerConfig[],
  root: string,
): Promise<readonly TriggerView[]> {
  const made: TriggerView[] = []
  for (const { agent = root, type, name = type, cron, timeZone, ...limits } of wanted) {
    const { items } = await operator.call('GET /triggers', { query: { agent } })
    const there = items.find((each) => each.name === name)
    const same = there?.type === type && there.cron === (cron ?? null) && there.timeZone === (timeZone ?? null)
    if (there && same) {
      made.push(await operator.call('PATCH /triggers/:id', { id: there.triggerId, body: limits }))
      continue
    }
    if (there) await operator.call('DELETE /triggers/:id', { id: there.triggerId, body: undefined })
    const body = {
      agent,
      type,
      name,
      ...(cron !== undefined && { cron }),
      ...(timeZone !== undefined && { timeZone }),
      ...limits,
    }
    made.push(await operator.call('POST /triggers', { body }))
  }
  return made
}
