/** Prepares recorded decisions to be repeated under the policies of their version or under others. */
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { CallFacts, PolicySets } from '../../policy/condition/decision.ts'
import { historyText, type HistoryMeasure } from '../../policy/condition/history.ts'
import { argumentAt, argumentText, sourceText } from '../../policy/condition/path.ts'
import type { RecordedDecision } from '../../spec/operator-views.ts'
import type { PolicySet } from '../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { OperatorClient } from '../project/operator.ts'

/** Snapshots by `namespace.name` and version label; each is fetched once. */
export type SnapshotLookup = (agent: string, version: string) => Promise<AgentSnapshot>

export function createSnapshots(operator: OperatorClient): SnapshotLookup {
  const known = new Map<string, Promise<AgentSnapshot>>()
  return (agent, version) => {
    const key = `${agent}@${version}`
    const snapshot = known.get(key) ?? operator.call('GET /snapshot', { query: { agent, version } })
    known.set(key, snapshot)
    return snapshot
  }
}

/**
 * The sets that a decision was made under.
 * @param change of a set, such as another in its place
 */
export async function recordedPolicySets(
  { agent, versionLabel, ancestors }: RecordedDecision,
  snapshots: SnapshotLookup,
  change: (snapshot: AgentSnapshot) => PolicySet = ({ policies }) => policies,
): Promise<PolicySets> {
  const of = async (name: string, version: string) => change(await snapshots(name, version))
  return {
    own: await of(agent, versionLabel),
    ancestors: await Promise.all(ancestors.map((each) => of(each.agent, each.versionLabel))),
  }
}

export interface ReplayedFacts {
  readonly facts: CallFacts
  /**
   * History measures that the repeated decision reads and the recorded one did not, by path and window. They are counted over
   * the recorded calls in their final states; all other facts are as recorded.
   */
  readonly assumed: ReadonlySet<string>
}

/** @param all every recorded decision, for measures that must be counted */
export function recordedFacts(decision: RecordedDecision, all: readonly RecordedDecision[]): ReplayedFacts {
  const { facts, recordedAt, history } = decision
  const assumed = new Set<string>()
  const { sources, ...roots } = facts
  const known = isJsonObject(sources) ? sources : {}
  return {
    assumed,
    facts: {
      // The operator API returns exactly these roots.
      ...(roots as JsonObject & Pick<CallFacts, 'tool' | 'agent' | 'run' | 'session' | 'principal' | 'effect' | 'svc'>),
      args: decision.arguments,
      now: Date.parse(recordedAt),
      // Recorded where a policy asked; elsewhere nobody can tell any more.
      source(segments) {
        const names = known[sourceText(segments)]
        return Array.isArray(names) && !names.includes('unknown') ? names.map(String) : undefined
      },
      history(...measure) {
        const text = historyText(...measure)
        if (Object.hasOwn(history, text)) return history[text] ?? undefined
        assumed.add(text)
        return countHistory(decision, all, ...measure)
      },
    },
  }
}

/** `history.run.this_tool.attempts was not recorded; …`, or nothing. */
export function assumedLine(assumed: Iterable<string>): string | undefined {
  const measures = [...assumed].sort()
  if (measures.length === 0) return undefined
  return `${measures.join(', ')} ${measures.length === 1 ? 'was' : 'were'} not asked for then; counted over the recorded calls as they ended`
}

/** Final states of calls that had no effect and do not add to a sum. */
const WITHOUT_EFFECT = new Set(['denied', 'rejected', 'failed', 'invalid', 'not_sent', 'skipped'])

function countHistory(
  decision: RecordedDecision,
  all: readonly RecordedDecision[],
  ...[scope, whose, measure, windowMs, by]: Parameters<CallFacts['history']>
): number | undefined {
  const key = by === undefined ? undefined : argumentText(decision.arguments, by)
  if (by !== undefined && key === undefined) return undefined
  const since = Date.parse(decision.recordedAt) - (windowMs ?? 0)
  const isInScope = (each: RecordedDecision): boolean => {
    if (each.recordedAt > decision.recordedAt) return false
    if (scope === 'run') return each.runId === decision.runId
    if (scope === 'session') return each.sessionId === decision.sessionId
    return (scope === 'workspace' || each.agent === decision.agent) && Date.parse(each.recordedAt) >= since
  }
  const calls = new Map(
    all
      .filter(isInScope)
      .filter((each) => whose === 'all_tools' || each.ref === decision.ref)
      .filter((each) => whose !== 'same_args' || each.argsDigest === decision.argsDigest)
      .filter((each) => by === undefined || argumentText(each.arguments, by) === key)
      .map((each) => [`${each.runId} ${each.toolCallId}`, each]),
  )
  return measureOf(decision, [...calls.values()], measure)
}

function measureOf(
  decision: RecordedDecision,
  calls: readonly RecordedDecision[],
  measure: HistoryMeasure,
): number | undefined {
  // The current call was not decided yet at that time, whatever its final state.
  const isCurrent = (each: RecordedDecision) => each.runId === decision.runId && each.toolCallId === decision.toolCallId
  const counts = calls.filter((each) => isCurrent(each) || !WITHOUT_EFFECT.has(each.state))
  if (measure === 'attempts') return calls.length
  if (measure === 'executed') return counts.length
  if (typeof measure === 'string') return calls.filter((each) => !isCurrent(each) && each.state === measure).length
  let total = 0
  for (const each of counts) {
    const value = argumentAt(each.arguments, measure.total)
    if (typeof value !== 'number') return undefined
    total += value
  }
  return total
}
