/** Whether the links of a session are the chain that was written. Source: docs/design/audit.md#verify */
import { digestOf } from '../../base/digest.ts'
import { CHAIN_START, hashAfter } from './hash-chain.ts'
import {
  digestOfContent,
  LINES_OF_EVENT,
  LINES_OF_STEP,
  type ChainedSession,
  type LinkRecord,
  type SessionLink,
  type SessionOffence,
  type SessionRule,
} from './session-link.ts'

/** The canonical JSON that the hash of a link covers. */
export const recordOfLink = ({ contentDigest, events, rows, session, steps, version }: SessionLink): string =>
  JSON.stringify({ contentDigest, events, ...(rows && { rows }), session, steps, version } satisfies LinkRecord)

export interface SessionVerifier {
  /** @param record what its hash covers, where that is known */
  check(link: SessionLink, record?: string): SessionOffence | undefined
  /** After the last link. */
  end(): SessionOffence | undefined
  /** Hash of the last link that was checked. */
  readonly head: string
  /** Events before the first link: an earlier version of svc stored them, and no link covers them. */
  readonly uncovered: number
}

/** Goes through the links of a session in order, and remembers no more than the last. */
export function createSessionVerifier(given: ChainedSession): SessionVerifier {
  let [head, version, ordinal] = [CHAIN_START, 0, 0]
  let seq: number | undefined
  let uncovered = given.lastSeq
  const offence = (at: number, rule: SessionRule, what: string): SessionOffence => ({
    session: given.session,
    seq: at,
    rule,
    what: `${what} (session ${given.session}).`,
  })
  return {
    get head() {
      return head
    },
    get uncovered() {
      return uncovered
    },
    check(link, record = recordOfLink(link)) {
      const firstSeq = link.events[0]?.seq
      // A chain that begins later than its session says so in its first link, whose hash covers the number.
      const first = firstSeq ?? (seq ?? 0) + 1
      if (seq === undefined) {
        uncovered = first - 1
        seq = first - 1
      }
      for (const event of link.events) {
        if (event.seq !== seq + 1) return offence(seq + 1, 'gap', `Event ${seq + 1} is missing`)
        seq = event.seq
      }
      for (const step of link.steps) {
        if (step.ordinal <= ordinal) return offence(first, 'gap', `Step ${step.ordinal} is there twice`)
        if (ordinal > 0 && step.ordinal !== ordinal + 1) return offence(first, 'gap', `Step ${ordinal + 1} is missing`)
        ordinal = step.ordinal
      }
      if (link.session !== given.session || link.version <= version)
        return offence(first, 'hash', `The save ${link.version} does not follow the save ${version}`)
      const events = link.events.length === 1 ? `event ${first}` : `events ${first} to ${seq}`
      const { content, salt, contentDigest } = link
      const lines = link.steps.length * LINES_OF_STEP + link.events.length * LINES_OF_EVENT
      const isRead = content === null || (salt !== null && content.length === lines)
      if (!isRead || (content !== null && digestOfContent(salt ?? '', content) !== contentDigest))
        return offence(first, 'content', `The content of ${events} is not the one that was recorded`)
      const changed = findChangedResult(link)
      if (changed !== undefined)
        return offence(first, 'content', `The result of step ${changed} is not the one that was recorded`)
      if (hashAfter(head, record) !== link.hash)
        return offence(
          first,
          'hash',
          `The record of ${events} is not the one that was written after the save ${version}`,
        )
      ;[head, version] = [link.hash, link.version]
      return undefined
    },
    end() {
      const last = seq ?? 0
      // Without links, all of it is from before there were any.
      if (seq === undefined && given.head === null) return undefined
      if (given.head !== null && given.head !== head)
        return offence(last + 1, 'end', `The chain does not end with the save ${given.headVersion}`)
      if (given.lastSeq === last && given.lastOrdinal === ordinal) return undefined
      return given.lastSeq > last || given.lastOrdinal > ordinal
        ? offence(last + 1, 'end', `No link covers what follows event ${last}`)
        : offence(
            given.lastSeq + 1,
            'end',
            `The chain goes on after event ${given.lastSeq}, the last one of the session`,
          )
    },
  }
}

/** Ordinal of the first step whose separate result is missing or another one. */
function findChangedResult({ content, steps, results = [] }: SessionLink): number | undefined {
  if (content === null) return undefined
  const digests = steps.map((_, index) => content[index * LINES_OF_STEP + 1])
  if (digests.every((each) => each === 'null')) return results.length === 0 ? undefined : steps[0]?.ordinal
  let next = 0
  const at = digests.findIndex((digest) => digest !== 'null' && digestOf(results[next++] ?? '') !== digest)
  return at < 0 ? undefined : steps[at]?.ordinal
}
