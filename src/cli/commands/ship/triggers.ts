import { fail } from '../../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { isUuid } from '../../../base/ids.ts'
import type { OperatorRoutes, OperatorAnswer } from '../../../operations/operations.ts'
import type { triggerSettings, TriggerView } from '../../../operations/triggers.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { CommandContext, TypedArguments } from '../../shell/command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { printOne } from '../../shell/screen/list.ts'
import { nextTimes } from '../../dev/next-times.ts'
import { parseJsonInput, readText } from '../../runs/input.ts'
import { findTriggerFaults } from '../../runs/trigger-faults.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { agentOption, listCommand, requestCommand } from '../../project/request-command.ts'
import { resolveAgent } from '../../project/reference.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { onlyMatch } from '../../project/only-match.ts'

const columns: readonly TableColumn<TriggerView>[] = [
  { title: 'TRIGGER', cell: ({ triggerId }) => shortId(triggerId), plain: ({ triggerId }) => triggerId },
  { title: 'AGENT', cell: ({ agent }) => agent },
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'ACTIVE', cell: ({ active }) => (active ? 'yes' : 'no') },
  { title: 'TIMELINE', cell: ({ exposeTimeline }) => (exposeTimeline ? 'shown' : 'hidden') },
  { title: 'LIMITS', cell: (trigger) => limitsOf(trigger) || '-' },
  {
    title: 'SCHEDULE',
    cell: ({ cron, timeZone }) => (cron === null ? '-' : `${cron}${timeZone ? ` (${timeZone})` : ''}`),
  },
  { title: 'KEYS MAY', cell: (trigger) => rightsOf(trigger) || '-' },
]

export const triggersList = listCommand('GET /triggers', {
  ask: (call) => async (operator) => ({ query: await agentOption(call, operator) }),
  columns: () => columns,
  nothing: 'No triggers. svc triggers create makes one.',
  note: ({ out }, { items }) => items.flatMap(findTriggerFaults).forEach(({ what }) => out.message(what)),
})

/** What a trigger lets its keys do that no key may by default. */
const rightsOf = ({ allowApprovals, allowDelete, allowOlderVersions }: TriggerView): string =>
  [allowApprovals && 'approve', allowOlderVersions && 'run older versions', allowDelete && 'erase']
    .filter(Boolean)
    .join(', ')

const limitsOf = ({ ratePerMinute, ratePerDay, maxConcurrentRuns }: TriggerView): string =>
  [
    ratePerMinute !== null && `${ratePerMinute}/m`,
    ratePerDay !== null && `${ratePerDay}/d`,
    maxConcurrentRuns !== null && `${maxConcurrentRuns} at once`,
  ]
    .filter(Boolean)
    .join(', ')

export async function triggersShow(call: CommandContext<OperatorAnswer<'POST /triggers'>>): Promise<void> {
  await withOperator(call, async (operator) => {
    const trigger = await triggerOf(call.given.required(0), operator)
    const fields = Object.entries(trigger).map(([key, value]) => ({
      key,
      value: describeValue(value),
    }))
    await printOne(call, trigger, fields)
  })
}

function describeValue(value: TriggerView[keyof TriggerView]): string {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '-')
}

export async function triggersCreate(call: CommandContext<OperatorAnswer<'POST /triggers'>>): Promise<void> {
  const { given, mode, out } = call
  const type = (given.text('type') ?? 'api') as TriggerView['type']
  const [cron, timeZone, name] = [given.text('cron'), given.text('tz'), given.text('name')]
  if (type === 'schedule' && cron === undefined)
    throw usageFailure('A schedule needs --cron.', '--cron "0 9 * * 1-5" --tz Europe/Berlin')
  if (type === 'api' && (cron !== undefined || timeZone !== undefined))
    throw usageFailure('--cron and --tz are for --type schedule.')
  const input = await readStartInput(call)
  if (type === 'api' && input !== undefined)
    throw usageFailure('--input is for --type schedule: an API request brings its own.')
  const times = cron === undefined ? [] : await nextTimes(cron, timeZone, call.io.clock.now())
  const changes = changesOf(given)
  await withOperator(call, async (operator) => {
    const body = {
      agent: (await resolveAgent(given.required(0), operator)).agentId,
      type,
      ...(name !== undefined && { name }),
      ...(cron !== undefined && { cron }),
      ...(timeZone !== undefined && { timeZone }),
      ...(input !== undefined && { input }),
      ...changes,
    }
    const trigger = await operator.call('POST /triggers', { body })
    if (mode.json) return await out.json(trigger)
    const next = times.length > 0 ? `; next: ${times.join(', ')}${timeZone ? ` (${timeZone})` : ''}` : ''
    out.line(`created trigger ${shortId(trigger.triggerId)} ${trigger.name}${next}`)
    warnOfRights(out, trigger)
    if (type === 'api') out.hint(`next:  svc keys create --agent ${trigger.agent} --trigger ${trigger.name}`)
  })
}

/** Says what follows from the rights of a trigger that somebody has just set. */
function warnOfRights(out: CommandContext['out'], { allowApprovals, exposeTimeline }: TriggerView): void {
  if (allowApprovals && exposeTimeline)
    out.message('warning: the program that starts a run with a key of this trigger can approve its calls')
  if (allowApprovals && !exposeTimeline)
    out.message('warning: with the timeline hidden, its keys find no approval to answer (svc inbox still does)')
}

export async function triggersUpdate(call: CommandContext<OperatorAnswer<'POST /triggers'>>): Promise<void> {
  const { given, mode, out } = call
  const active = given.choice('active')
  const input = await readStartInput(call)
  const body = {
    ...changesOf(given),
    ...(active !== undefined && { active }),
    ...(input !== undefined && { input }),
  }
  if (Object.keys(body).length === 0) throw usageFailure('Nothing to change was named.', 'svc help triggers update')
  await withOperator(call, async (operator) => {
    const { triggerId } = await triggerOf(given.required(0), operator)
    const trigger = await operator.call('PATCH /triggers/:id', { id: triggerId, body })
    if (body.exposeTimeline !== undefined || body.allowApprovals !== undefined) warnOfRights(out, trigger)
    if (mode.json) return await out.json(trigger)
    out.line(`updated trigger ${shortId(triggerId)}`)
  })
}

export const triggersDelete = requestCommand(
  'DELETE /triggers/:id',
  (call) => async (operator) => {
    const { triggerId, name, agent } = await triggerOf(call.given.required(0), operator)
    const isSure = await confirmLoss(call, `Delete trigger ${name} of ${agent}? Its keys stop working.`)
    return isSure ? { id: triggerId } : undefined
  },
  ({ out }, { triggerId }) => out.line(`deleted trigger ${shortId(triggerId)}`),
)

/** The value of `--input`. */
async function readStartInput(call: CommandContext<TriggerView>): Promise<JsonObject | undefined> {
  const text = call.given.text('input')
  if (text === undefined) return undefined
  const value = parseJsonInput(text.startsWith('@') ? await readText(text.slice(1), call) : text, '--input')
  if (!isJsonObject(value)) throw usageFailure('--input takes one object.')
  return value
}

type TriggerChanges = Pick<OperatorRoutes['PATCH /triggers/:id']['body'], keyof typeof triggerSettings>

/** Settings that are on or off: `--allow-delete`, `--no-allow-delete`. */
const SWITCHES = ['exposeTimeline', 'allowDelete', 'allowApprovals', 'allowOlderVersions'] as const

const optionOf = (setting: string): string => setting.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function changesOf(given: TypedArguments): TriggerChanges {
  const maxConcurrentRuns = wholeNumber(given.text('max-concurrent'), 'max-concurrent', 1)
  const allowIps = given.list('allow-ip')
  const rates: { ratePerMinute?: number; ratePerDay?: number } = {}
  for (const text of given.list('rate')) {
    const match = /^([1-9]\d*)\/([md])$/.exec(text)
    if (!match) throw usageFailure(`--rate takes a number per minute or day, 10/m or 100/d, not "${text}".`)
    rates[match[2] === 'm' ? 'ratePerMinute' : 'ratePerDay'] = Number(match[1])
  }
  const switches = SWITCHES.flatMap((name) => {
    const value = given.choice(optionOf(name))
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...rates,
    ...(maxConcurrentRuns !== undefined && { maxConcurrentRuns }),
    ...(allowIps.length > 0 && { allowIps }),
    ...Object.fromEntries(switches),
  }
}

/** Finds a trigger by its id, the end of it, or its name. @throws Failure `not_found`, `ambiguous_reference` */
export async function triggerOf(text: string, operator: OperatorClient): Promise<TriggerView> {
  const { items } = await operator.call('GET /triggers', { query: {} })
  const found = items.filter((each) =>
    isUuid(text)
      ? each.triggerId === text.toLowerCase()
      : each.triggerId.endsWith(text.toLowerCase()) || each.name === text,
  )
  const missing = () => fail('not_found', { what: `trigger ${text}` }, { fix: 'svc triggers list shows them.' })
  return onlyMatch(found, text, missing, ({ triggerId, agent, name }) => `${triggerId} (${agent} / ${name})`)
}
