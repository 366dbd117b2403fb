/** Writes actual results into the expectations of a scenario file; comments and layout stay. */
import { parseAllDocuments } from 'yaml'
import type { JsonValue } from '../base/json/json.ts'
import type { ExpectationMismatch } from './expect.ts'
import type { ObservedRun } from './observe.ts'
import type { ScenarioExpectation } from './scenario.ts'

/** What to write under `expect`, by key. */
export type ExpectationUpdate = Readonly<Record<string, JsonValue>>

/**
 * Only the keys that differ. Undefined where the output schema differs, which its author must change, or where the run did
 * not end.
 */
export function updateOf(
  expect: ScenarioExpectation,
  differences: readonly ExpectationMismatch[],
  { calls, decisions, limits, subjects }: ObservedRun,
): ExpectationUpdate | undefined {
  if (differences.some(({ what }) => what === 'run' || what === 'output_schema')) return undefined
  const toolNames = (list: readonly { readonly tool: string }[] | undefined): Set<string> =>
    new Set(list?.map(({ tool }) => tool))
  const actualLists: Readonly<Record<string, () => JsonValue>> = {
    calls: () => groupEqualCalls(calls.filter(({ tool }) => toolNames(expect.calls).has(tool))),
    decisions: () =>
      decisions
        .filter(({ tool }) => toolNames(expect.decisions).has(tool))
        .map(({ tool, decision, by: [by] }) => ({ tool, decision, ...(by !== undefined && { by }) })),
    limits: () => [...limits],
    subjects: () => [...subjects],
  }
  return Object.fromEntries(differences.map(({ what, actual }) => [what, actualLists[what]?.() ?? actual]))
}

/** @param updates by document; undefined leaves one as it is */
export function rewriteExpectations(text: string, updates: readonly (ExpectationUpdate | undefined)[]): string {
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return text
  documents.forEach((document, index) => {
    for (const [key, value] of Object.entries(updates[index] ?? {})) document.setIn(['expect', key], value)
  })
  return documents.map((document) => document.toString({ lineWidth: 0 })).join('')
}

/** Writes equal calls as one entry with `times`. */
function groupEqualCalls(calls: ObservedRun['calls']): JsonValue {
  const groups = new Map<string, { readonly call: ObservedRun['calls'][number]; times: number }>()
  for (const call of calls) {
    const key = JSON.stringify(call)
    const group = groups.get(key) ?? { call, times: 0 }
    group.times++
    groups.set(key, group)
  }
  return [...groups.values()].map(({ call, times }) => ({ ...call, times }))
}
