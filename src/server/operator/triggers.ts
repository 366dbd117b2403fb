/** Triggers of agents. Source: decisions, section 15; command line, 2.2. */
import { Cron } from 'croner'
import { toIsoText } from '../../base/clock.ts'
import type { AgentId } from '../../base/ids.ts'
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type { Trigger } from '../../spec/key.ts'
import type { TriggerView } from '../../spec/operator.ts'
import { isRange } from '../http/ip.ts'
import { readProperties } from './reader.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './act.ts'
import { findAgent, findTrigger } from './find.ts'

type TriggerReader = ReturnType<typeof readProperties>

/** A trigger without a name is named after its type, numbered from the second one on. */
export const createTrigger: OperatorAction<'POST /triggers'> = async ({ services, body }) => {
  const check = readProperties(body)
  const reference = check.required('agent', check.text('agent', { min: 1, max: 300 }))
  const type = check.required('type', check.text('type'))
  if (type !== undefined && type !== 'api' && type !== 'schedule') check.wrong('/type', 'must be api or schedule')
  const name = check.text('name', { min: 1, max: 100 })
  const cron = check.text('cron')
  const timeZone = check.text('timeZone')
  if (type === 'schedule') checkCron(check, cron, timeZone)
  else if (cron !== undefined || timeZone !== undefined) check.wrong('/cron', 'belongs to a schedule trigger')
  const limits = readLimits(check, body)
  check.done()
  const agent = await findAgent(services, reference!)
  const taken = (await services.store.triggers(services.workspace.id, agent.id)).map((each) => each.name)
  if (name !== undefined && taken.includes(name))
    check.wrong('/name', `is taken: ${agent.name} has a trigger "${name}"`)
  check.done()
  const trigger: Trigger = {
    id: services.ids.next(),
    workspaceId: services.workspace.id,
    agentId: agent.id,
    type: type as Trigger['type'],
    name: name ?? freeName(type!, taken),
    active: true,
    exposeTimeline: true,
    allowIps: [],
    ratePerMinute: null,
    ratePerDay: null,
    maxConcurrentRuns: null,
    ...limits,
    cron: cron ?? null,
    timeZone: timeZone ?? null,
    createdAt: services.clock.now(),
  }
  await services.store.createTrigger(trigger)
  services.serverState.onTriggersChanged?.()
  return toTriggerView(trigger, agent.name)
}

export const updateTrigger: OperatorAction<'PATCH /triggers/:id'> = async ({ services, id, body }) => {
  const check = readProperties(body)
  const active = check.boolean('active')
  const limits = readLimits(check, body)
  check.done()
  const trigger: Trigger = { ...(await findTrigger(services, id)), ...(active !== undefined && { active }), ...limits }
  await services.store.updateTrigger(trigger)
  services.serverState.onTriggersChanged?.()
  // Open streams use the old settings; clients reconnect under the new ones.
  for (const key of await keysOf(services, trigger)) services.readers.stop(key.id)
  return toTriggerView(trigger, await nameOf(services, trigger.agentId))
}

/** Revokes the trigger's keys as well. */
export const deleteTrigger: OperatorAction<'DELETE /triggers/:id'> = async ({ services, id }) => {
  const trigger = await findTrigger(services, id)
  for (const key of await keysOf(services, trigger)) {
    if (key.revokedAt === null) await services.store.revokeKey(key.id, services.clock.now())
    services.readers.stop(key.id)
  }
  await services.store.deleteTrigger(trigger.id)
  services.serverState.onTriggersChanged?.()
  return { triggerId: trigger.id }
}

export const listTriggers: OperatorAction<'GET /triggers'> = async ({ services, query }) => {
  const reference = query.get('agent')
  const agentId = reference === null ? undefined : (await findAgent(services, reference)).id
  const triggers = await services.store.triggers(services.workspace.id, agentId)
  const items = await Promise.all(
    triggers.map(async (trigger) => toTriggerView(trigger, await nameOf(services, trigger.agentId))),
  )
  return { items, total: items.length }
}

const keysOf = async ({ store, workspace }: ServerServices, trigger: Trigger) =>
  (await store.keys(workspace.id)).filter((key) => key.triggerId === trigger.id)

export const nameOf = async ({ store }: ServerServices, agentId: AgentId): Promise<string> =>
  (await store.agent(agentId))?.name ?? agentId

function freeName(type: string, taken: readonly string[]): string {
  let name = type
  for (let number = 2; taken.includes(name); number++) name = `${type}-${number}`
  return name
}

function checkCron(check: TriggerReader, cron: string | undefined, timeZone: string | undefined): void {
  if (cron === undefined) return check.wrong('/cron', 'is required for a schedule')
  try {
    if (new Cron(cron, { paused: true, ...(timeZone !== undefined && { timezone: timeZone }) }).nextRun() === null)
      check.wrong('/cron', 'names no time to come')
  } catch (error) {
    check.wrong('/cron', `is no schedule: ${(error as Error).message}`)
  }
}

type TriggerLimits = Partial<
  Pick<Trigger, 'exposeTimeline' | 'allowIps' | 'ratePerMinute' | 'ratePerDay' | 'maxConcurrentRuns'>
>

/** Only the properties of the body; null removes a limit. */
function readLimits(check: TriggerReader, body: unknown): TriggerLimits {
  const source: JsonObject = isJsonObject(body) ? body : {}
  const limit = (name: 'ratePerMinute' | 'ratePerDay' | 'maxConcurrentRuns'): TriggerLimits => {
    if (source[name] === undefined) return {}
    if (source[name] === null) return { [name]: null }
    const value = check.bytes(name)
    return value === undefined ? {} : { [name]: value }
  }
  const exposeTimeline = check.boolean('exposeTimeline')
  const allowIps = check.list('allowIps', (value, at) =>
    typeof value === 'string' && isRange(value) ? value : check.wrong(at, 'must be an address or a CIDR'),
  )
  return {
    ...(exposeTimeline !== undefined && { exposeTimeline }),
    ...(allowIps !== undefined && { allowIps: allowIps.filter((each) => each !== undefined) }),
    ...limit('ratePerMinute'),
    ...limit('ratePerDay'),
    ...limit('maxConcurrentRuns'),
  }
}

const toTriggerView = (trigger: Trigger, agent: string): TriggerView => ({
  triggerId: trigger.id,
  agentId: trigger.agentId,
  agent,
  type: trigger.type,
  name: trigger.name,
  active: trigger.active,
  exposeTimeline: trigger.exposeTimeline,
  allowIps: trigger.allowIps,
  ratePerMinute: trigger.ratePerMinute,
  ratePerDay: trigger.ratePerDay,
  maxConcurrentRuns: trigger.maxConcurrentRuns,
  cron: trigger.cron,
  timeZone: trigger.timeZone,
  createdAt: toIsoText(trigger.createdAt),
})
