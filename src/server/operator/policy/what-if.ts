/** What recorded decisions would become under edited policies. Source: console, 4.3. */
import { setImmediate } from 'node:timers/promises'
import { backtest, type BacktestResult } from '../../../policy/replay/backtest.ts'
import type { WhatIfView } from '../../../spec/operator/decide.ts'
import type { PolicySet } from '../../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { collectDecisions, snapshotsOf } from './decisions.ts'
import { compareEdited } from '../versions/authority.ts'
import { compilerOf, readEdits, versionNamed } from './edits.ts'

/** Flips in an answer where nobody said how many. */
const TAKE = 200

/** Until others have their turn. A collection of garbage, or one read, may come on top. */
const SLICE_MS = 2

export const lintEdits: OperatorAction<'POST /lint'> = async ({ services, body }) => ({
  findings: await compilerOf(services).lint(await readEdits(services, body)),
})

export const askWhatIf: OperatorAction<'POST /what-if'> = async ({ services, body, call }) => {
  const { agent, since, take = TAKE } = body
  const compiled = await compilerOf(services).compile(await readEdits(services, body))
  const { findings, policiesOf } = compiled
  if (!policiesOf) return { calls: 0, flips: [], decisions: [], changes: [], findings }
  const authority = body.base && (await differenceOfEdits(services, body.base, policiesOf))
  const pause = takeTurns(call.request.signal)
  const filter = { ...(agent !== undefined && { agent }), ...(since !== undefined && { since }) }
  const recorded = await collectDecisions(services, filter, pause)
  const { flips, assumed } = await backtest(
    recorded,
    snapshotsOf(services),
    { policiesOf: rememberSets(policiesOf), classOf: () => undefined },
    pause,
  )
  const shown = flips.slice(0, take)
  return {
    calls: recorded.length,
    flips: shown.map(({ flip }) => flip),
    ...(assumed.length > 0 && { assumed }),
    decisions: shown.map(({ decision }) => decision.decisionId),
    changes: countChanges(flips),
    ...(authority && { authority }),
    findings,
  }
}

/** What the version does with the edits, in it and in the agents that it pins, that it does not do as it was published. */
async function differenceOfEdits(
  services: ServerServices,
  base: { readonly agent: string; readonly version?: string },
  policiesOf: (snapshot: AgentSnapshot) => PolicySet,
): Promise<WhatIfView['authority']> {
  const { snapshot } = await versionNamed(services, base)
  return await compareEdited(services, snapshot, (each) => ({ ...each, policies: policiesOf(each) }))
}

/** Lets others go first every few milliseconds, and ends once nobody waits for the answer. */
function takeTurns(signal: AbortSignal): () => Promise<void> | void {
  let until = performance.now() + SLICE_MS
  return () => {
    if (performance.now() < until) return
    return setImmediate().then(() => {
      signal.throwIfAborted()
      until = performance.now() + SLICE_MS
    })
  }
}

/** A set is compiled once for each version. */
function rememberSets(policiesOf: (snapshot: AgentSnapshot) => PolicySet): (snapshot: AgentSnapshot) => PolicySet {
  const known = new Map<string, PolicySet>()
  return (snapshot) => {
    const set = known.get(snapshot.digest) ?? policiesOf(snapshot)
    known.set(snapshot.digest, set)
    return set
  }
}

function countChanges(flips: BacktestResult['flips']): readonly { was: string; now: string; flips: number }[] {
  const counts = new Map<string, { was: string; now: string; flips: number }>()
  for (const { flip } of flips) {
    const key = `${flip.was} ${flip.now}`
    const change = counts.get(key) ?? { was: flip.was, now: flip.now, flips: 0 }
    counts.set(key, { ...change, flips: change.flips + 1 })
  }
  return [...counts.values()].sort((a, b) => b.flips - a.flips)
}
