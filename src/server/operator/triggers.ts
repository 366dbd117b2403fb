/** Triggers of agents. Source: docs/design/http.md#keys-and-triggers */
import { Cron } from 'croner'
import { toIsoText, type Instant } from '../../base/clock.ts'
import { Failure, isFailure, type InvalidPlace } from '../../base/failure.ts'
import type { AgentId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { checkInput } from '../../engine/check-start.ts'
import { DEFAULT_TRIGGER_SETTINGS } from '../../spec/project/config.ts'
import type { ApiKey, Trigger } from '../../spec/people/key.ts'
import type { OperatorRoutes } from '../../operations/operations.ts'
import { triggerSettings, type TriggerView } from '../../operations/triggers.ts'
import { describeRefusal } from '../runtime/schedule.ts'
import { nextTick } from '../runtime/ticks.ts'
import { isIpRange } from '../http/ip.ts'
import { throwFindings } from '../http/refuse.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './people/act.ts'
import { findAgent, findTrigger } from './find/find.ts'

/** A trigger without a name is named after its type, numbered from the second one on. */
export const createTrigger: OperatorAction<'POST /triggers'> = async ({ services, body, act }) => {
  const { type, name, cron, timeZone, input } = body
  refuse([...scheduleProblems(body), ...rangeProblems(body)])
  const agent = await findAgent(services, body.agent)
  const taken = (await services.store.triggers(services.workspace.id, agent.id)).map((each) => each.name)
  if (name !== undefined && taken.includes(name))
    refuse([{ path: '/name', message: `is taken: ${agent.name} has a trigger "${name}"` }])
  if (type === 'schedule') await checkScheduleInput(services, agent.id, input ?? {})
  const trigger: Trigger = {
    id: services.ids.next(),
    workspaceId: services.workspace.id,
    agentId: agent.id,
    type,
    name: name ?? freeName(type, taken),
    active: true,
    ...DEFAULT_TRIGGER_SETTINGS,
    ...settingsOf(body),
    cron: cron ?? null,
    timeZone: timeZone ?? null,
    input: input ?? null,
    refusal: null,
    createdAt: services.clock.now(),
  }
  const made = act('trigger.created', {
    subject: describeTrigger(trigger, agent.name),
    after: settingsShown(trigger),
    setup: [`trigger ${trigger.id}`],
  })
  await services.store.recording(made).createTrigger(trigger)
  services.serverState.onTriggersChanged?.()
  return await toTriggerView(services, trigger)
}

export const updateTrigger: OperatorAction<'PATCH /triggers/:id'> = async ({ services, id, body, act }) => {
  refuse(rangeProblems(body))
  const { active, input } = body
  const found = await findTrigger(services, id)
  if (input !== undefined && found.type === 'api') refuse([NO_API_INPUT])
  if (input !== undefined) await checkScheduleInput(services, found.agentId, input)
  const changes = { ...(active !== undefined && { active }), ...(input !== undefined && { input }) }
  const trigger = { ...found, ...changes, ...settingsOf(body) }
  const [before, after] = changedSettings(settingsShown(found), settingsShown(trigger))
  const subject = describeTrigger(found, await nameOf(services, found.agentId))
  await services.store
    .recording(act('trigger.changed', { subject, before, after, setup: [`trigger ${trigger.id}`] }))
    .updateTrigger(trigger)
  services.serverState.onTriggersChanged?.()
  // Open streams use the old settings; clients reconnect under the new ones.
  for (const key of await keysOf(services, trigger)) services.readers.stop(key.id)
  return await toTriggerView(services, trigger)
}

/** Revokes the trigger's keys as well. */
export const deleteTrigger: OperatorAction<'DELETE /triggers/:id'> = async ({ services, id, act }) => {
  const trigger = await findTrigger(services, id)
  const agent = await nameOf(services, trigger.agentId)
  for (const key of await keysOf(services, trigger)) {
    if (key.revokedAt === null) {
      const revoked = act('key.revoked', {
        subject: describeApiKey(key, agent),
        before: { prefix: key.prefix },
        setup: [`key ${key.id}`],
      })
      await services.store.recording(revoked).revokeKey(key.id, services.clock.now())
    }
    services.readers.stop(key.id)
  }
  const deleted = act('trigger.deleted', {
    subject: describeTrigger(trigger, agent),
    before: settingsShown(trigger),
    setup: [`trigger ${trigger.id}`],
  })
  await services.store.recording(deleted).deleteTrigger(trigger.id)
  services.serverState.onTriggersChanged?.()
  return { triggerId: trigger.id }
}

export const listTriggers: OperatorAction<'GET /triggers'> = async ({ services, query }) => {
  const agentId = query.agent === undefined ? undefined : (await findAgent(services, query.agent)).id
  const triggers = await services.store.triggers(services.workspace.id, agentId)
  const items = await Promise.all(triggers.map((trigger) => toTriggerView(services, trigger)))
  return { items, total: items.length }
}

const keysOf = async ({ store, workspace }: ServerServices, trigger: Trigger) =>
  (await store.keys(workspace.id)).filter((key) => key.triggerId === trigger.id)

export const nameOf = async ({ store }: ServerServices, agentId: AgentId): Promise<string> =>
  (await store.agent(agentId))?.name ?? agentId

/** `key "web shop" of demo.agent`; a key without a name by its beginning. */
export const describeApiKey = ({ name, prefix }: ApiKey, agent: string): string =>
  `${name === null ? `key ${prefix}…` : `key "${name}"`} of ${agent}`

/** `schedule "nightly" of demo.agent` */
const describeTrigger = ({ type, name }: Trigger, agent: string): string =>
  `${type === 'api' ? 'trigger' : 'schedule'} "${name}" of ${agent}`

/** What a record says of a trigger. */
const settingsShown = ({ active, cron, timeZone, input, ...trigger }: Trigger): JsonObject =>
  toJson({ active, ...settingsOf(trigger), cron, timeZone, input })

/** The settings that differ, as they were and as they are. */
function changedSettings(before: JsonObject, after: JsonObject): readonly [JsonObject, JsonObject] {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  const pick = (from: JsonObject): JsonObject => Object.fromEntries(names.map((name) => [name, from[name] ?? null]))
  return [pick(before), pick(after)]
}

function freeName(type: string, taken: readonly string[]): string {
  let name = type
  for (let number = 2; taken.includes(name); number++) name = `${type}-${number}`
  return name
}

const refuse = (problems: readonly InvalidPlace[]): void => throwFindings(problems, 'The body is not valid')

const NO_API_INPUT: InvalidPlace = { path: '/input', message: 'belongs to a schedule trigger' }

function scheduleProblems({ type, cron, timeZone, input }: OperatorRoutes['POST /triggers']['body']): InvalidPlace[] {
  const wrong = (message: string): InvalidPlace[] => [{ path: '/cron', message }]
  if (type === 'api')
    return [
      ...(cron === undefined && timeZone === undefined ? [] : wrong('belongs to a schedule trigger')),
      ...(input === undefined ? [] : [NO_API_INPUT]),
    ]
  if (cron === undefined) return wrong('is required for a schedule')
  try {
    const schedule = new Cron(cron, { paused: true, ...(timeZone !== undefined && { timezone: timeZone }) })
    return schedule.nextRun() === null ? wrong('names no time to come') : []
  } catch (error) {
    return wrong(`is no schedule: ${(error as Error).message}`)
  }
}

const rangeProblems = ({ allowIps = [] }: TriggerSettings): InvalidPlace[] =>
  allowIps.flatMap((range, at) =>
    isIpRange(range) ? [] : [{ path: `/allowIps/${at}`, message: 'must be an address or a CIDR' }],
  )

type TriggerSettings = Partial<Pick<Trigger, keyof typeof triggerSettings>>

/** Of a body only what it has; null removes a limit. */
const settingsOf = <T extends TriggerSettings>(from: T) =>
  Object.fromEntries(
    Object.keys(triggerSettings).flatMap((name) => {
      const value = from[name as keyof TriggerSettings]
      return value === undefined ? [] : [[name, value]]
    }),
  ) as Pick<T, keyof typeof triggerSettings>

/** @throws Failure `input_contract_violation` where the deployed version would refuse every tick */
async function checkScheduleInput({ store }: ServerServices, agentId: AgentId, input: JsonObject): Promise<void> {
  const deployedId = (await store.agent(agentId))?.deployedVersionId
  const version = deployedId && (await store.version(deployedId))
  if (!version) return
  try {
    await checkInput(version.snapshot, input)
  } catch (error) {
    if (!isFailure(error)) throw error
    const fix = 'Give the schedule what its agent asks for: --input JSON, or `input` of the trigger in svc.config.yaml.'
    throw new Failure(error.code, describeRefusal(error), { ...error.extras, fix })
  }
}

/** Why the deployed version refuses the input of a schedule; null where it takes it, and for API triggers. */
async function findInputProblem(services: ServerServices, { type, agentId, input }: Trigger): Promise<Failure | null> {
  if (type === 'api') return null
  try {
    await checkScheduleInput(services, agentId, input ?? {})
    return null
  } catch (error) {
    if (!isFailure(error)) throw error
    return error
  }
}

const toTriggerView = async (services: ServerServices, trigger: Trigger): Promise<TriggerView> => {
  const problem = await findInputProblem(services, trigger)
  return {
    triggerId: trigger.id,
    agentId: trigger.agentId,
    agent: await nameOf(services, trigger.agentId),
    type: trigger.type,
    name: trigger.name,
    active: trigger.active,
    ...settingsOf(trigger),
    cron: trigger.cron,
    timeZone: trigger.timeZone,
    input: trigger.input,
    inputProblem: problem?.message ?? null,
    inputProblemCode: problem?.code ?? null,
    refused: trigger.refusal && { ...trigger.refusal, at: toIsoText(trigger.refusal.at) },
    next: trigger.active && trigger.type === 'schedule' ? nextTicks(trigger, services.clock.now()) : [],
    createdAt: toIsoText(trigger.createdAt),
  }
}

/** Ticks that are shown ahead. */
const TICKS_AHEAD = 5

function nextTicks(trigger: Trigger, now: Instant): readonly string[] {
  const ticks: string[] = []
  for (let at = nextTick(trigger, now); at !== Infinity && ticks.length < TICKS_AHEAD; at = nextTick(trigger, at))
    ticks.push(toIsoText(at))
  return ticks
}
