/** What changed about the decisions on one call of an agent, under every chain of ancestors. */
import type { PolicySets } from '../policy/condition/decision.ts'
import type { PolicyOrigin, PolicyEntry } from '../spec/policy-set.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import { compareAuthority, type AuthorityComparison } from './authority.ts'
import type { AuthorityVerdict } from './prove-authority.ts'
import { entriesFor, type ComparedCallee } from './callee.ts'
import { versionChange, type ChangeKind, type VersionChange } from './change.ts'
import type { ComparedClosure } from './closure.ts'
import { describePolicyEntry, describePolicyChange, describeWitness } from './words.ts'

/** One agent in both versions. */
export interface AgentPair {
  readonly before: { readonly closure: ComparedClosure; readonly agent: AgentSnapshot }
  readonly after: { readonly closure: ComparedClosure; readonly agent: AgentSnapshot }
}

export const callAuthorityChanges = (
  pair: AgentPair,
  was: ComparedCallee,
  is: ComparedCallee,
): readonly VersionChange[] => [...decisionChanges(pair, was, is), ...removedGates(was, is)]

const CHANGE_OF_VERDICT: Readonly<Record<AuthorityVerdict, { readonly kind: ChangeKind; readonly how: string }>> = {
  loosened: { kind: 'authority.widened', how: 'looser; ' },
  not_proven: { kind: 'authority.widened', how: 'not proven to be as strict' },
  tightened: { kind: 'authority.narrowed', how: 'stricter' },
  equal: { kind: 'authority.equal', how: 'as strict as before' },
}

function decisionChanges(pair: AgentPair, was: ComparedCallee, is: ComparedCallee): readonly VersionChange[] {
  const chains = chainsOf(pair)
  const setsIn = ([before, after]: ChainPair): readonly [PolicySets, PolicySets] => [
    { own: was.agent.policies, ancestors: before },
    { own: is.agent.policies, ancestors: after },
  ]
  const comparisons = chains.map(setsIn).map(([before, after]) => {
    return compareAuthority({ callee: was, sets: before }, { callee: is, sets: after })
  })
  const { verdict, witness } = worstComparison(comparisons)
  const [before, after] = setsIn(chains[0])
  const [old, now] = [entriesFor(before, was), entriesFor(after, is)]
  const [fewer, more] = [entriesOnlyIn(old, now), entriesOnlyIn(now, old)]
  if (verdict === 'equal' && fewer.length === 0 && more.length === 0) return []
  const [from, to] = [fewer, more].map((entries) => entries.map(describePolicyEntry).sort().join('; ') || null) as [
    string | null,
    string | null,
  ]
  const { kind, how } = CHANGE_OF_VERDICT[verdict]
  return [
    versionChange(kind, {
      agent: is.agent.id,
      tool: is.id,
      verdict,
      ...(witness && { witness }),
      from,
      to,
      path: pathOf([...more, ...fewer]),
      say: `${is.id}: ${changePrefix(from, to)}${how}${witness ? describeWitness(witness) : ''}`,
    }),
  ]
}

/** Policies of the agent itself that no longer apply. Changed gates of ancestors are reported for the ancestor. */
function removedGates(was: ComparedCallee, is: ComparedCallee): readonly VersionChange[] {
  const old = gatesOf(was)
  const kept = new Set(gatesOf(is).map(({ policy }) => policy))
  const boundaries = new Set(is.agent.boundaries)
  const removed = old.filter(
    ({ policy, origin }) => !kept.has(policy) && origin.some((each) => isReportedForCall(each, boundaries)),
  )
  return [...new Set(removed.map(({ policy }) => policy))].sort().map((policy) =>
    versionChange('gate.removed', {
      agent: is.agent.id,
      tool: is.id,
      from: policy,
      path: pathOf(old.filter((entry) => entry.policy === policy)),
      say: `${is.id}: the policy ${policy} no longer applies`,
    }),
  )
}

const gatesOf = (callee: ComparedCallee): readonly PolicyEntry[] =>
  entriesFor({ own: callee.agent.policies, ancestors: [] }, callee).filter(({ effect }) => effect !== 'grant')

/** Removed defaults and boundaries are reported once for the agent. An entry that replaced a boundary's missing policy is not a policy. */
const isReportedForCall = ({ kind, boundary }: PolicyOrigin, boundaries: ReadonlySet<string>): boolean =>
  kind !== 'default' &&
  kind !== 'synthetic' &&
  (kind !== 'boundary' || (boundary !== undefined && boundaries.has(boundary)))

const changePrefix = (from: string | null, to: string | null): string =>
  from === null && to === null ? '' : `${describePolicyChange(from ?? 'no policy', to ?? 'no policy')}, `

function entriesOnlyIn(entries: readonly PolicyEntry[], others: readonly PolicyEntry[]): readonly PolicyEntry[] {
  const ids = new Set(others.map(({ id }) => id))
  return entries.filter(({ id }) => !ids.has(id))
}

function pathOf(entries: readonly PolicyEntry[]): string | null {
  const origin = entries.flatMap((entry) => entry.origin).find(({ path }) => path !== undefined)
  if (origin?.path === undefined) return null
  return origin.line === undefined ? origin.path : `${origin.path}:${origin.line}`
}

const VERDICTS_BY_SEVERITY: readonly AuthorityVerdict[] = ['loosened', 'not_proven', 'tightened', 'equal']

const worstComparison = (all: readonly AuthorityComparison[]): AuthorityComparison =>
  all.reduce((a, b) => (VERDICTS_BY_SEVERITY.indexOf(b.verdict) < VERDICTS_BY_SEVERITY.indexOf(a.verdict) ? b : a))

/** Paths from the root to one agent that are compared; further ones rarely add anything. */
export const MAX_CHAINS = 8

type Chain = readonly AgentSnapshot[]
/** The policies of one chain of ancestors in both versions. */
type ChainPair = readonly [PolicySets['ancestors'], PolicySets['ancestors']]

/** The chains of ancestors under which the agent runs in both versions. */
function chainsOf({ before, after }: AgentPair): readonly [ChainPair, ...ChainPair[]] {
  const [old, now] = [chainsTo(before.closure, before.agent.id), chainsTo(after.closure, after.agent.id)]
  const text = (chain: Chain): string => chain.map(({ id }) => id).join(' ')
  const policies = (chain: Chain): PolicySets['ancestors'] => chain.map((each) => each.policies)
  const [first = [[], []], ...others] = now.flatMap((chain): ChainPair[] => {
    const same = old.find((each) => text(each) === text(chain))
    return same ? [[policies(same), policies(chain)]] : []
  })
  return [first, ...others]
}

export function chainsTo({ root, agents }: ComparedClosure, id: string): readonly Chain[] {
  const found: Chain[] = []
  const visit = (at: AgentSnapshot, above: Chain): void => {
    if (found.length >= MAX_CHAINS || above.includes(at)) return
    if (at.id === id) found.push(above)
    for (const child of at.agents) {
      const next = child.lateBound ? undefined : agents.get(child.id)
      if (next) visit(next, [...above, at])
    }
  }
  visit(root, [])
  return found
}
