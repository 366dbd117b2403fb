/** Recorded decisions, made again under the policies of their version or under others. */
import type { JsonObject } from '../../base/json.ts'
import type { CallFacts, HistoryMeasure, PolicySets } from '../../policy/condition/decision.ts'
import { historyText } from '../../policy/condition/history.ts'
import { argumentAt } from '../../policy/condition/path.ts'
import type { RecordedDecision } from '../../spec/operator.ts'
import type { PolicySet } from '../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { OperatorClient } from '../project/operator.ts'

/** Snapshots by `namespace.name` and version label, each asked for once. */
export type SnapshotLookup = (agent: string, version: string) => Promise<AgentSnapshot>

export function createSnapshots(operator: OperatorClient): SnapshotLookup {
  const known = new Map<string, Promise<AgentSnapshot>>()
  return (agent, version) => {
    const key = `${agent}@${version}`
    const asked = known.get(key) ?? operator.call('GET /snapshot', { query: { agent, version } })
    known.set(key, asked)
    return asked
  }
}

/**
 * The sets that a decision was made under.
 * @param change of a set, such as another in its place
 */
export async function setsOf(
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
   * Measures of history that were asked for now and not then, by path and window: they are counted over the recorded calls, and
   * these as they ended. Everything else is what was recorded.
   */
  readonly assumed: ReadonlySet<string>
}

/** @param all decisions that are known */
export function factsOf(decision: RecordedDecision, all: readonly RecordedDecision[]): ReplayedFacts {
  const { facts, recordedAt, history } = decision
  const assumed = new Set<string>()
  return {
    assumed,
    facts: {
      // The operator application puts together exactly these roots.
      ...(facts as JsonObject & Pick<CallFacts, 'tool' | 'agent' | 'run' | 'session' | 'principal' | 'svc'>),
      args: decision.arguments,
      now: Date.parse(recordedAt),
      history(...asked) {
        const text = historyText(...asked)
        if (Object.hasOwn(history, text)) return history[text] ?? undefined
        assumed.add(text)
        return count(decision, all, ...asked)
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

/** Calls that came to nothing do not add to a sum. */
const CAME_TO_NOTHING = new Set(['denied', 'rejected', 'failed', 'invalid', 'not_sent', 'skipped'])

function count(
  decision: RecordedDecision,
  all: readonly RecordedDecision[],
  ...[scope, whose, measure, windowMs]: Parameters<CallFacts['history']>
): number | undefined {
  const since = Date.parse(decision.recordedAt) - (windowMs ?? 0)
  const isHere = (each: RecordedDecision): boolean => {
    if (each.recordedAt > decision.recordedAt) return false
    if (scope === 'run') return each.runId === decision.runId
    if (scope === 'session') return each.sessionId === decision.sessionId
    return each.agent === decision.agent && Date.parse(each.recordedAt) >= since
  }
  const calls = new Map(
    all
      .filter(isHere)
      .filter((each) => whose === 'all_tools' || each.ref === decision.ref)
      .filter((each) => whose !== 'same_args' || each.argsDigest === decision.argsDigest)
      .map((each) => [`${each.runId} ${each.toolCallId}`, each]),
  )
  return measureOf(decision, [...calls.values()], measure)
}

function measureOf(
  decision: RecordedDecision,
  calls: readonly RecordedDecision[],
  measure: HistoryMeasure,
): number | undefined {
  // The call at hand was still to be decided, whatever became of it.
  const isAtHand = (each: RecordedDecision) => each.runId === decision.runId && each.toolCallId === decision.toolCallId
  const counts = calls.filter((each) => isAtHand(each) || !CAME_TO_NOTHING.has(each.state))
  if (measure === 'attempts') return calls.length
  if (measure === 'executed') return counts.length
  if (typeof measure === 'string') return calls.filter((each) => !isAtHand(each) && each.state === measure).length
  let total = 0
  for (const each of counts) {
    const value = argumentAt(each.arguments, measure.total)
    if (typeof value !== 'number') return undefined
    total += value
  }
  return total
}
