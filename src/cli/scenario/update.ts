/** A scenario file with what came of its runs in place of what was expected; comments and layout are kept. */
import { parseAllDocuments } from 'yaml'
import type { JsonValue } from '../../base/json.ts'
import type { ExpectationMismatch, ObservedRun } from './expect.ts'
import type { ScenarioExpectation } from './scenario.ts'

/** What to write under `expect`, by key. */
export type ExpectationUpdate = Readonly<Record<string, JsonValue>>

/**
 * Only what differs. A schema is its author's own work and a run without an end has nothing to show, so neither is
 * changed; undefined where one of them differs.
 */
export function updateOf(
  expect: ScenarioExpectation,
  differences: readonly ExpectationMismatch[],
  { calls, decisions, limits, subjects }: ObservedRun,
): ExpectationUpdate | undefined {
  if (differences.some(({ what }) => what === 'run' || what === 'output_schema')) return undefined
  const named = (list: readonly { readonly tool: string }[] | undefined): Set<string> =>
    new Set(list?.map(({ tool }) => tool))
  const whole: Readonly<Record<string, () => JsonValue>> = {
    calls: () => counted(calls.filter(({ tool }) => named(expect.calls).has(tool))),
    decisions: () =>
      decisions
        .filter(({ tool }) => named(expect.decisions).has(tool))
        .map(({ tool, decision, by: [by] }) => ({ tool, decision, ...(by !== undefined && { by }) })),
    limits: () => [...limits],
    subjects: () => [...subjects],
  }
  return Object.fromEntries(differences.map(({ what, actual }) => [what, whole[what]?.() ?? actual]))
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

/** The same call made several times is one entry with `times`. */
function counted(calls: ObservedRun['calls']): JsonValue {
  const groups = new Map<string, { readonly call: ObservedRun['calls'][number]; times: number }>()
  for (const call of calls) {
    const key = JSON.stringify(call)
    const group = groups.get(key) ?? { call, times: 0 }
    group.times++
    groups.set(key, group)
  }
  return [...groups.values()].map(({ call, times }) => ({ ...call, times }))
}
