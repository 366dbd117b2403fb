/** Prepares recorded decisions to be repeated under the policies of their version or under others. */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import type { RecordedDecision } from '../../operations/decisions.ts'
import type { PolicySet } from '../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { CallFacts, PolicySets } from '../condition/decision.ts'
import { effectKeyOf } from '../condition/effect-key.ts'
import { historyText } from '../condition/history.ts'
import { argumentAt, sourceText, stepInto } from '../condition/path.ts'
import type { PathSegment } from '../condition/segment.ts'
import type { RecordedCalls } from './recorded-calls.ts'

/** Snapshots by `namespace.name` and version label; each is read once. */
export type SnapshotLookup = (agent: string, version: string) => Promise<AgentSnapshot>

export function rememberSnapshots(load: SnapshotLookup): SnapshotLookup {
  const known = new Map<string, Promise<AgentSnapshot>>()
  return (agent, version) => {
    const key = `${agent}@${version}`
    const snapshot = known.get(key) ?? load(agent, version)
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

/**
 * @param calls for measures that must be counted
 * @param args in place of the recorded arguments; facts that depend on them are derived again, or are unknown
 */
export function recordedFacts(
  decision: RecordedDecision,
  calls: RecordedCalls,
  args: JsonValue = decision.arguments,
): ReplayedFacts {
  const { facts, recordedAt, history } = decision
  const isEdited = args !== decision.arguments && canonicalJson(args) !== canonicalJson(decision.arguments)
  const assumed = new Set<string>()
  // The operator API returns exactly these roots. They are named one by one, since a backtest does this for every decision.
  const { sources, effect, tool, agent, run, session, principal, svc } = facts as JsonObject &
    Pick<CallFacts, 'tool' | 'agent' | 'run' | 'session' | 'principal' | 'svc'>
  const known = isJsonObject(sources) ? sources : {}
  const keyFacts = isEdited ? effectOfEdited(tool, args, effect) : effect
  return {
    assumed,
    facts: {
      tool,
      agent,
      run,
      session,
      principal,
      svc,
      ...(isJsonObject(keyFacts) && { effect: fromJson<NonNullable<CallFacts['effect']>>(keyFacts) }),
      args,
      now: Date.parse(recordedAt),
      // Recorded only if a policy read them; otherwise unknown.
      source(segments) {
        if (isEdited && !isSameAt(segments, decision.arguments, args)) return undefined
        const names = known[sourceText(segments)]
        return Array.isArray(names) && !names.includes('unknown') ? names.map(String) : undefined
      },
      history(...measure) {
        const text = historyText(...measure)
        const recorded = Object.hasOwn(history, text)
        if (recorded && !isEdited) return history[text] ?? undefined
        const [, whose, what, , by] = measure
        const isKept = whose !== 'same_args' && (by === undefined || isSame(by, decision.arguments, args))
        if (recorded && isKept) return movedTotal(history[text] ?? undefined, what, decision.arguments, args)
        assumed.add(text)
        return calls.measure(decision, args, ...measure)
      },
    },
  }
}

/** A sum includes the call itself, so another argument moves it. */
function movedTotal(
  recorded: number | undefined,
  what: Parameters<CallFacts['history']>[2],
  before: JsonValue,
  after: JsonValue,
): number | undefined {
  if (recorded === undefined || typeof what === 'string') return recorded
  const [from, to] = [argumentAt(before, what.total), argumentAt(after, what.total)]
  return typeof from === 'number' && typeof to === 'number' ? recorded - from + to : undefined
}

/** Whether the effect of another key was made before was not recorded; it counts as new. */
function effectOfEdited(
  tool: CallFacts['tool'],
  args: JsonValue,
  recorded: JsonValue | undefined,
): JsonValue | undefined {
  const key = effectKeyOf(tool.labels, args)
  if (!key || !('key' in key)) return undefined
  const isSameKey = isJsonObject(recorded) && recorded['key'] === key.shown
  return isSameKey ? recorded : { key: key.shown, repeated: false }
}

const isSame = (path: string, a: JsonValue, b: JsonValue): boolean => isEqual(argumentAt(a, path), argumentAt(b, path))

function isSameAt(segments: readonly PathSegment[], before: JsonValue, after: JsonValue): boolean {
  let [a, b]: (JsonValue | undefined)[] = [before, after]
  for (const segment of segments) {
    if ('each' in segment) break
    ;[a, b] = [stepInto(a, segment), stepInto(b, segment)]
  }
  return isEqual(a, b)
}

const isEqual = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  a === undefined || b === undefined ? a === b : canonicalJson(a) === canonicalJson(b)

/** `history.run.this_tool.attempts was not recorded; …`, or nothing. */
export function assumedLine(assumed: Iterable<string>): string | undefined {
  const measures = [...assumed].sort()
  if (measures.length === 0) return undefined
  return `${measures.join(', ')} ${measures.length === 1 ? 'was' : 'were'} not asked for then; counted over the recorded calls as they ended`
}
