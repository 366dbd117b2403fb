/**
 * Several tasks that ask the same, as one table with a column for each argument: for a person to read before deciding all
 * of them. Each is still decided by a request of its own. Source: docs/design/approvals.md#approving-several-at-once
 */
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ShownTask, TaskRequest } from '../../spec/task.ts'
import { currencyOf, isMoneyName } from './call-arguments.ts'
import { decisivePolicies } from './card-policy.ts'

/** The common parts of tasks that are reviewed together: the tool, and the lines of the policies that stopped the call. */
export function bulkGroupOf(task: TaskRequest): string | undefined {
  const { kind, tool, policies = [] } = task
  if (tool === undefined) return undefined
  const lines = decisivePolicies(policies).map(({ id, version, source = '' }) => [id, version, source])
  return JSON.stringify([kind, tool.ref, tool.version, lines])
}

/** Tasks that ask the same as one of them, which is the first. */
export const listSimilar = (of: ShownTask, among: readonly ShownTask[]): readonly ShownTask[] => {
  const group = bulkGroupOf(of)
  return group === undefined ? [of] : [of, ...among.filter((each) => each.id !== of.id && bulkGroupOf(each) === group)]
}

/**
 * The sum of what several calls move: `EUR 26,800`, one text for each currency; empty where no argument is an amount. Exact: amounts
 * are added as decimals.
 */
export function sumAmounts(tasks: readonly TaskRequest[]): readonly string[] {
  const sums = new Map<string, readonly [units: bigint, scale: number]>()
  for (const { arguments: args } of tasks) {
    const amount = findAmount(args)
    if (amount === undefined) continue
    const currency = currencyOf(args)?.toUpperCase() ?? ''
    const [units, scale] = sums.get(currency) ?? [0n, 0]
    const [whole, fraction = ''] = amount.split('.')
    const wider = Math.max(scale, fraction.length)
    const added = BigInt(`${whole}${fraction.padEnd(wider, '0')}`)
    sums.set(currency, [units * 10n ** BigInt(wider - scale) + added, wider])
  }
  return [...sums].map(([currency, [units, scale]]) => `${currency} ${writeDecimal(units, scale)}`.trim())
}

/** The first amount of a call, as a plain decimal; undefined where there is none, or it is written in another way. */
function findAmount(args: JsonValue | undefined): string | undefined {
  if (!isJsonObject(args)) return undefined
  const texts = Object.entries(args).flatMap(([name, value]) =>
    isMoneyName(name) && (typeof value === 'number' || typeof value === 'string') ? [String(value)] : [],
  )
  return texts.find((text) => PLAIN_DECIMAL.test(text))
}

const PLAIN_DECIMAL = /^-?\d{1,30}(?:\.\d{1,30})?$/

/** With commas between thousands: `1,800.50`. */
function writeDecimal(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  return `${units < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`
}

export interface BulkReview {
  /** Names of the arguments, in the order of the first task that has them. */
  readonly columns: readonly string[]
  /** For each task the values as JSON, whole; empty where it has no such argument. */
  readonly rows: readonly (readonly string[])[]
}

export function reviewTogether(tasks: readonly ShownTask[]): BulkReview {
  const all = tasks.map(({ arguments: args }) => (isJsonObject(args) ? args : { arguments: args ?? null }))
  const names = [...new Set(all.flatMap((args) => Object.keys(args)))]
  return {
    columns: names.map(safeText),
    rows: all.map((args) => names.map((name) => (Object.hasOwn(args, name) ? safeJson(args[name]) : ''))),
  }
}
