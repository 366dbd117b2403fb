/** Runs that an outage holds, one entry per cause. Source: docs/design/runs-and-recovery.md#hold-instead-of-fail */
import type { Clock } from '../../base/clock.ts'
import { describeHold, type RunHold } from '../../spec/run/hold.ts'
import { OUTAGE_REASONS } from '../../spec/run/outage.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { countNoun } from '../shell/counted.ts'
import { formatMoment } from '../../terminal/time.ts'

const OUTAGES: ReadonlySet<string> = new Set([...OUTAGE_REASONS, 'storage_full'])

export interface HeldRuns {
  readonly reason: RunHold['reason']
  readonly runs: number
  /** When the first of them was held. */
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
export const describeHeldRuns = ({ runs, ...hold }: HeldRuns, showTime?: (iso: string) => string): string =>
  `${countNoun(runs, 'run')} held ${describeHold(hold, showTime)}`

/** The format of times in sentences: clock time for a person on a terminal, else the full time. */
export const timesFor =
  (stream: { readonly isTTY: boolean }, { now }: Pick<Clock, 'now'>) =>
  (iso: string): string =>
    stream.isTTY ? formatMoment(Date.parse(iso), now()) : iso
