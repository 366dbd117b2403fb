/**
 * Sends what waits in the outbox. Each channel has its own few tries under way, so that one that hangs holds back no other one, and
 * takes no more rows than it has tries: the outbox may be of any length. Source: docs/design/notifications.md#delivery
 */
import type { Log } from '../../base/log.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { ChannelConfig } from '../../spec/project/config.ts'
import type { NoticeOutcome, StoredNotice } from '../../spec/notice.ts'
import type { Store } from '../../store/store.ts'
import { withDeadline } from '../../tools/outcome.ts'
import { pauseAfterTry } from './backoff.ts'
import { failedTry, type NoticeChannel, type NoticeMessage, type TryOutcome } from './channel.ts'
import { buildMessage, type MessageParts } from './message.ts'

/** Between two looks at the outbox: for notices of other processes, and those that are due later. */
const LOOK_EVERY_MS = 1000
/** Beyond the time of a try, before another process may take its notices. */
const LEASE_MARGIN_MS = 15_000
const DEFAULT_CONCURRENCY = 4
/** Longest reason of a failed try that is kept. */
const MAX_ERROR_CHARACTERS = 500

export interface DeliveredChannel {
  readonly name: string
  readonly config: ChannelConfig
  readonly timeoutMs: number
  readonly channel: NoticeChannel
}

export interface DeliveryParts extends Omit<MessageParts, 'store'> {
  readonly store: Store
  readonly workspaceId: WorkspaceId
  readonly channels: readonly DeliveredChannel[]
  readonly log: Log
  readonly random: () => number
}

export interface NoticeDelivery {
  /** Looks at the outbox soon: something was added. */
  wake(): void
  /** Looks once, and resolves when everything that it found has an outcome. */
  deliverDue(): Promise<void>
  /** Cuts off what is under way; its notices are due at once, for the next process. */
  close(): Promise<void>
}

export function createNoticeDelivery(parts: DeliveryParts): NoticeDelivery {
  const { store, workspaceId, channels, log } = parts
  const { clock } = store
  const stopped = new AbortController()
  const underWay = new Set<Promise<void>>()
  const free = new Map(channels.map(({ name, config }) => [name, config.concurrency ?? DEFAULT_CONCURRENCY]))
  let isAway = false

  async function claim({ name, timeoutMs, channel }: DeliveredChannel): Promise<readonly StoredNotice[]> {
    const now = clock.now()
    const until = now + timeoutMs + LEASE_MARGIN_MS
    const limit = free.get(name)! * channel.mostAtOnce
    return limit === 0 ? [] : await store.claimNotices({ workspaceId, channel: name, now, until, limit })
  }

  /** Starts the tries for which a channel has room; false where nothing was due. */
  async function startTries(of: DeliveredChannel): Promise<boolean> {
    const notices = await claim(of)
    for (let at = 0; at < notices.length; at += of.channel.mostAtOnce) {
      free.set(of.name, free.get(of.name)! - 1)
      const batch = notices.slice(at, at + of.channel.mostAtOnce)
      const trying = attempt(of, batch)
        .catch((error: unknown) => tellAway(error))
        .finally(() => {
          underWay.delete(trying)
          free.set(of.name, free.get(of.name)! + 1)
          wake()
        })
      underWay.add(trying)
    }
    return notices.length > 0
  }

  async function attempt({ config, timeoutMs, channel, name }: DeliveredChannel, batch: readonly StoredNotice[]) {
    const messages: NoticeMessage[] = []
    for (const notice of batch) {
      const message = await buildMessage(notice, config, parts)
      if (message) messages.push(message)
      else await end(notice, { state: 'moot' })
    }
    if (messages.length === 0) return
    const outcomes = await trySending(channel, messages, timeoutMs)
    for (const [at, { notice }] of messages.entries()) await record(name, notice, outcomes[at]!)
  }

  async function trySending(
    channel: NoticeChannel,
    messages: readonly NoticeMessage[],
    timeoutMs: number,
  ): Promise<readonly TryOutcome[]> {
    const limit = withDeadline(timeoutMs, stopped.signal)
    const outcome = await channel
      .send(messages, limit.signal)
      .catch((error: unknown) => failedTry((error as Error).message))
      .finally(() => limit.release())
    const outcomes = isList(outcome) ? outcome : messages.map(() => outcome)
    if (!limit.timedOut()) return outcomes
    const why = `it did not answer within ${timeoutMs} ms`
    return outcomes.map((each) => (each.at === 'failed' ? { ...each, why } : each))
  }

  async function record(channel: string, notice: StoredNotice, outcome: TryOutcome): Promise<void> {
    if (outcome.at === 'moot') return await end(notice, { state: 'moot' })
    if (outcome.at === 'later')
      return await end(notice, { dueAt: clock.now() + outcome.afterMs, error: notice.error, isCounted: false })
    const kept = outcome.receipt && { receipt: outcome.receipt }
    if (outcome.at === 'delivered') return await end(notice, { ...kept, state: 'delivered' })
    // A try that the end of this process cut off says nothing of the receiver.
    if (stopped.signal.aborted)
      return await end(notice, { ...kept, dueAt: clock.now(), error: notice.error, isCounted: false })
    const error = parts.redactor.cut(outcome.why, MAX_ERROR_CHARACTERS).text
    const pause = outcome.at === 'refused' ? undefined : pauseAfterTry(notice, parts.random(), outcome.retryAfterMs)
    if (pause !== undefined) return await end(notice, { ...kept, dueAt: clock.now() + pause, error })
    log.write('warn', 'a notice could not be delivered', { channel, event: notice.event, notice: notice.id, error })
    await end(notice, { ...kept, state: 'dead', error })
  }

  async function end({ id, claims, dueAt }: StoredNotice, how: Partial<NoticeOutcome>): Promise<void> {
    const { state = 'waiting' } = how
    await store.endNotice({ id, claims, dueAt, state, error: null, isCounted: state !== 'moot', ...how }, clock.now())
  }

  /** A store that is away keeps the notices; the log says so once. */
  function tellAway(error: unknown): void {
    if (isAway || stopped.signal.aborted) return
    isAway = true
    log.write('warn', 'notices wait: the outbox cannot be read or written', { detail: (error as Error).message })
  }

  let isWoken = false
  let endPause = (): void => {}
  function wake(): void {
    isWoken = true
    endPause()
  }

  const pauseUnlessWoken = (): Promise<void> =>
    new Promise((resolve) => {
      if (isWoken || stopped.signal.aborted) return resolve()
      const timer = setTimeout(resolve, LOOK_EVERY_MS)
      timer.unref()
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function look(): Promise<boolean> {
    if (!clock.mayDecide()) return false
    let found = false
    for (const each of channels) {
      try {
        found = (await startTries(each)) || found
        isAway = false
      } catch (error) {
        tellAway(error)
      }
    }
    return found
  }

  async function loop(): Promise<void> {
    while (!stopped.signal.aborted) {
      isWoken = false
      await look()
      await pauseUnlessWoken()
    }
  }

  let looping: Promise<void> | undefined

  return {
    wake() {
      wake()
      looping ??= loop()
    },
    async deliverDue() {
      do {
        await look()
        await Promise.all(underWay)
      } while (await look())
      await Promise.all(underWay)
    },
    async close() {
      stopped.abort()
      endPause()
      await looping
      await Promise.all(underWay)
    },
  }
}

const isList = (outcome: TryOutcome | readonly TryOutcome[]): outcome is readonly TryOutcome[] => Array.isArray(outcome)
