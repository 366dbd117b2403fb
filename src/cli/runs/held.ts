/** Runs that an outage holds, one entry per cause. Source: reliability, "Hold instead of fail". */
import { HOLD_TEXTS, type RunHold } from '../../spec/hold.ts'
import { OUTAGE_REASONS } from '../../spec/outage.ts'
import type { OperatorClient } from '../project/server/operator.ts'
import { countNoun } from '../shell/counted.ts'

const OUTAGES: ReadonlySet<string> = new Set([...OUTAGE_REASONS, 'storage_full'])

export interface HeldRuns {
  readonly reason: RunHold['reason']
  readonly runs: number
  /** Since when the first of them is held. */
  readonly since: string
  /** The next attempt of any of them. */
  readonly nextAttemptAt?: string
}

const PAGE = 200
/** Running runs that are looked at. */
const MOST = 2000

export async function readHeldRuns(operator: OperatorClient): Promise<readonly HeldRuns[]> {
  const held = new Map<string, HeldRuns>()
  for (let skip = 0; skip < MOST; skip += PAGE) {
    const query = { status: 'Running', take: String(PAGE), skip: String(skip) }
    const { items } = await operator.call('GET /runs', { query })
    for (const { hold } of items) {
      if (!hold || !OUTAGES.has(hold.reason)) continue
      const { reason, since, nextAttemptAt: next } = hold
      const before = held.get(reason)
      const nextAttemptAt = [before?.nextAttemptAt, next].filter((each) => each !== undefined).toSorted()[0]
      held.set(reason, {
        reason: reason as RunHold['reason'],
        runs: (before?.runs ?? 0) + 1,
        since: before && before.since < since ? before.since : since,
        ...(nextAttemptAt !== undefined && { nextAttemptAt }),
      })
    }
    if (items.length < PAGE) break
  }
  return [...held.values()]
}

/** `2 runs held since TIME: the model cannot be reached; next attempt at TIME` */
export function describeHeldRuns({ reason, runs, since, nextAttemptAt }: HeldRuns): string {
  const told = `${countNoun(runs, 'run')} held since ${since}: ${HOLD_TEXTS[reason]}`
  return nextAttemptAt === undefined ? told : `${told}; next attempt at ${nextAttemptAt}`
}
