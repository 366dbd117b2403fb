/** Decides recorded calls again under edited policies. Source: docs/design/console.md#routes */
import { setImmediate } from 'node:timers/promises'
import { takeTurns } from '../../../base/event-loop.ts'
import { backtest, type BacktestResult } from '../../../policy/replay/backtest.ts'
import type { WhatIfView } from '../../../operations/decisions.ts'
import type { PolicySet } from '../../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { collectDecisions, snapshotsOf } from './decisions.ts'
import { compareEdited } from '../versions/authority.ts'
import { compilerOf, readEdits, versionNamed } from './edits.ts'

/** Default number of flips in an answer. */
const TAKE = 200

export const lintEdits: OperatorAction<'POST /lint'> = async ({ services, body }) => ({
  findings: await compilerOf(services).lint(await readEdits(services, body)),
})

export const askWhatIf: OperatorAction<'POST /what-if'> = async ({ services, body, call }) => {
  const { agent, since, take = TAKE } = body
  const compiled = await compilerOf(services).compile(await readEdits(services, body))
  const { findings, policiesOf } = compiled
  if (!policiesOf) return { calls: 0, flips: [], decisions: [], changes: [], findings }
  // Compiling and comparing each take a few milliseconds: others go first in between.
  await setImmediate()
  const authority = body.base && (await differenceOfEdits(services, body.base, policiesOf))
  await setImmediate()
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

/** The changes that the edits make to a published version and to the agents that it pins. */
async function differenceOfEdits(
  services: ServerServices,
  base: { readonly agent: string; readonly version?: string },
  policiesOf: (snapshot: AgentSnapshot) => PolicySet,
): Promise<WhatIfView['authority']> {
  const { snapshot } = await versionNamed(services, base)
  return await compareEdited(services, snapshot, (each) => ({ ...each, policies: policiesOf(each) }))
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
