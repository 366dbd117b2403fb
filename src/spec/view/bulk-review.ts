/**
 * Several tasks that ask the same, as one table with a column for each argument: for a person to read before deciding all
 * of them. Each is still decided by a request of its own. Source: console, 2.1.
 */
import { safeJson, safeText } from '../../base/escape-text.ts'
import { isJsonObject } from '../../base/json/json.ts'
import type { ShownTask, TaskRequest } from '../task.ts'
import { decisivePolicies } from './task-card.ts'

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
