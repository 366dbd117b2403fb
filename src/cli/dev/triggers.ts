/** Triggers of the project file. Source: command line, 1.5. */
import type { TriggerConfig } from '../../spec/config.ts'
import type { TriggerView } from '../../spec/operator/access.ts'
import type { OperatorClient } from '../project/server/operator.ts'

/**
 * Creates the triggers of the project file and updates existing ones. A trigger that is no longer in the file stays: it may
 * have been created by hand.
 * @param root agent of triggers that name none
 * @throws Failure `validation_failed` for a schedule that is none, `not_found` for an agent that is not deployed
 */
export async function createTriggers(
  operator: OperatorClient,
  configured: readonly TriggerConfig[],
  root: string,
): Promise<readonly TriggerView[]> {
  const triggers: TriggerView[] = []
  for (const { agent = root, type, name = type, cron, timeZone, ...limits } of configured) {
    const { items } = await operator.call('GET /triggers', { query: { agent } })
    const existing = items.find((each) => each.name === name)
    const isUnchanged =
      existing?.type === type && existing.cron === (cron ?? null) && existing.timeZone === (timeZone ?? null)
    if (existing && isUnchanged) {
      triggers.push(await operator.call('PATCH /triggers/:id', { id: existing.triggerId, body: limits }))
      continue
    }
    if (existing) await operator.call('DELETE /triggers/:id', { id: existing.triggerId, body: undefined })
    const body = {
      agent,
      type,
      name,
      ...(cron !== undefined && { cron }),
      ...(timeZone !== undefined && { timeZone }),
      ...limits,
    }
    triggers.push(await operator.call('POST /triggers', { body }))
  }
  return triggers
}
