/** Compares what a scenario expects with what the run did. */
import { canonicalJson, containsJson, type JsonValue } from '../base/json/json.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import { checkValue } from '../tools/check/check.ts'
import { observeRun } from './observe.ts'
import type { PlayedScenario } from './play.ts'
import type { ScenarioExpectation } from './scenario.ts'
import { textBefore } from '../base/text/text-parts.ts'

export interface ExpectationMismatch {
  /** Key under `expect`, or `run` for a run that did not end. */
  readonly what: string
  readonly expected: JsonValue
  readonly actual: JsonValue
}

/**
 * Every difference, in the order of the keys.
 * @param agents published agents, to map wire names to tool ids
 */
export function findMismatches(
  expect: ScenarioExpectation,
  played: PlayedScenario,
  agents: readonly AgentSnapshot[],
): ExpectationMismatch[] {
  const { run, conversation } = played
  const found: ExpectationMismatch[] = []
  if (played.problem !== undefined) found.push({ what: 'run', expected: 'an end', actual: played.problem })
  if (!run || !conversation) return found
  const differs = (what: string, expected: JsonValue, actual: JsonValue): void => {
    if (canonicalJson(expected) !== canonicalJson(actual)) found.push({ what, expected, actual })
  }
  if (expect.status !== undefined) differs('status', expect.status, run.status)
  if (expect.error_code !== undefined) differs('error_code', expect.error_code, run.errorCode ?? null)
  if (expect.output !== undefined) differs('output', expect.output, run.output)
  if (expect.output_schema !== undefined) {
    const [wrong] = checkValue(expect.output_schema, run.output)
    if (wrong !== undefined)
      found.push({ what: 'output_schema', expected: `${wrong.path || 'output'} ${wrong.message}`, actual: run.output })
  }
  const { calls, decisions, limits, holds, subjects } = observeRun(played, agents)
  for (const wanted of expect.calls ?? []) {
    const same = calls.filter(
      ({ tool, arguments: args }) =>
        tool === wanted.tool && (wanted.arguments === undefined || containsJson(args, wanted.arguments)),
    )
    if (wanted.times === undefined ? same.length === 0 : same.length !== wanted.times)
      found.push({
        what: 'calls',
        expected: { ...wanted },
        actual: calls.filter(({ tool }) => tool === wanted.tool).map((call) => ({ ...call })),
      })
  }
  for (const wanted of expect.decisions ?? [])
    if (
      !decisions.some(
        ({ tool, decision, by }) =>
          tool === wanted.tool &&
          (wanted.decision === undefined || decision === wanted.decision) &&
          (wanted.by === undefined || by.includes(withoutVersion(wanted.by))),
      )
    )
      found.push({
        what: 'decisions',
        expected: { ...wanted },
        actual: decisions.filter(({ tool }) => tool === wanted.tool).map((each) => ({ ...each, by: [...each.by] })),
      })
  for (const limit of expect.limits ?? [])
    if (!limits.includes(limit)) found.push({ what: 'limits', expected: limit, actual: [...limits] })
  for (const hold of expect.holds ?? [])
    if (!holds.includes(hold)) found.push({ what: 'holds', expected: hold, actual: [...holds] })
  if (expect.subjects !== undefined && !isSubsequence(expect.subjects, subjects))
    found.push({ what: 'subjects', expected: [...expect.subjects], actual: [...subjects] })
  return found
}

function isSubsequence(wanted: readonly string[], subjects: readonly string[]): boolean {
  let at = 0
  for (const subject of subjects) if (subject === wanted[at]) at++
  return at === wanted.length
}

const withoutVersion = (policy: string): string => textBefore(policy, '@')
