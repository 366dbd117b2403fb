/** Compares what two versions decide about the same calls. Source: docs/design/prover.md#comparing-two-versions */
import { canonicalJson } from '../base/json/json.ts'
import { comparedFactsOf, entriesFor, type ComparedVersion } from './callee.ts'
import {
  asksWhoCalls,
  contentOf,
  isProven,
  MAX_LEADS,
  MAX_STOPPED_WORK,
  proveChanged,
  proveNoLooser,
  proveStopped,
  type AuthorityVerdict,
} from './prove-authority.ts'
import type { ComparedSide } from './questions.ts'
import { wideningsOf } from './widening.ts'
import { findWitness, type WitnessCall } from './witness.ts'

export interface AuthorityComparison {
  readonly verdict: AuthorityVerdict
  /** Set for `loosened`. */
  readonly witness?: WitnessCall
}

/** Compares the decisions of both versions on every call that the later one accepts. */
export function compareAuthority(before: ComparedVersion, after: ComparedVersion): AuthorityComparison {
  const decided = compareDecisions(before, after)
  if (decided.witness) return decided
  const accepted = compareAccepted(before, after)
  if (accepted.witness) return accepted
  return accepted.verdict === 'equal' ? decided : accepted
}

/** Compares the policies of both versions on the calls that the later version accepts. */
function compareDecisions(before: ComparedVersion, after: ComparedVersion): AuthorityComparison {
  const [old, now] = [sideOf(before), sideOf(after)]
  if (sameQuestions(old, now)) return { verdict: 'equal' }
  const proof = proveNoLooser(old, now)
  if (isProven(proof)) return { verdict: proof.verdict }
  const changed = proof.verdict === 'not_proven' ? proveChanged(old, now) : undefined
  if (changed && isProven(changed)) return { verdict: changed.verdict }
  const witness = findWitness(before, after, [old, now], changed?.leads ?? proof.leads, [])
  return witness ? { verdict: 'loosened', witness } : { verdict: 'not_proven' }
}

/**
 * `equal` if the later version stops every call that only its input schema accepts. `compareDecisions` covers how strictly
 * it stops them.
 */
export function compareAccepted(before: ComparedVersion, after: ComparedVersion): AuthorityComparison {
  if (!isWriting(before, after)) return { verdict: 'equal' }
  const widenings = wideningsOf(before.callee.schemas, after.callee.schemas)
  if (widenings.length === 0) return { verdict: 'equal' }
  const [old, now] = [sideOf(before), sideOf(after)]
  const budget = { left: MAX_STOPPED_WORK }
  const open = widenings.map((widening) => proveStopped(now, widening, budget)).filter((proof) => !isProven(proof))
  if (open.length === 0) return { verdict: 'equal' }
  const leads = open.flatMap((proof) => proof.leads).slice(0, MAX_LEADS)
  const witness = findWitness(before, after, [old, now], leads, widenings)
  return witness ? { verdict: 'loosened', witness } : { verdict: 'not_proven' }
}

const sideOf = ({ callee, sets }: ComparedVersion): ComparedSide => ({ callee, entries: entriesFor(sets, callee) })

/** True if both sides have the same policies and these read no facts that differ. */
function sameQuestions(old: ComparedSide, now: ComparedSide): boolean {
  if (old.callee.sideEffectClass !== now.callee.sideEffectClass) return false
  const [a, b] = [old, now].map(({ entries }) => entries.map(contentOf).sort().join('\n'))
  if (a !== b) return false
  const [facts, others] = [old, now].map(({ callee }) => {
    const { agent, tool } = comparedFactsOf(callee, {})
    return canonicalJson({ agent, tool })
  })
  return facts === others || !old.entries.some(asksWhoCalls)
}

/** True if newly accepted calls count: a read changes nothing, and the calls of a sub-agent are compared for that sub-agent. */
const isWriting = (before: ComparedVersion, after: ComparedVersion): boolean =>
  after.callee.kind === 'tool' && [before, after].some(({ callee }) => callee.sideEffectClass !== 'read_only')
