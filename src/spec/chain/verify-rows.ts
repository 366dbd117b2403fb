/** Whether rows that later saves overwrite are what the last save of each made of them. Source: docs/design/audit.md#rows */
import type { SessionId } from '../../base/ids.ts'
import {
  AT_WORK,
  digestOfRow,
  EFFECT_ROW,
  type ChainedRow,
  type SessionLink,
  type SessionOffence,
} from './session-link.ts'

interface RecordedRow {
  readonly digest: string
  /** Null once the content of the save is erased. */
  readonly salt: string | null
  readonly version: number
  /** Number of the first event of the save, or of the last one before it. */
  readonly seq: number
}

export interface RowVerifier {
  /** Links of one session in order. */
  add(link: SessionLink): void
  /** @returns the first row that is not as it was recorded, was never recorded, or is gone */
  check(rows: readonly ChainedRow[]): SessionOffence | undefined
  /** Rows whose content is erased, or that were last written by a version of svc whose links did not cover them. */
  readonly uncovered: number
}

export function createRowVerifier(session: SessionId): RowVerifier {
  const recorded = new Map<string, RecordedRow>()
  let [seq, uncovered] = [0, 0]
  /** False where the session began before links covered rows: then a row without a record may be an old one. */
  let isCovered: boolean | undefined
  const offence = (at: number, what: string): SessionOffence => ({
    session,
    seq: at,
    rule: 'row',
    what: `${what} (session ${session}).`,
  })
  return {
    get uncovered() {
      return uncovered
    },
    add({ events, rows, salt, version }) {
      const at = events[0]?.seq ?? seq
      seq = events.at(-1)?.seq ?? seq
      isCovered ??= rows !== undefined && version === 1
      for (const [name, digest] of rows ?? []) recorded.set(name, { digest, salt, version, seq: at })
    },
    check(rows) {
      const names = new Set<string>()
      for (const { name, lines } of rows) {
        // A vote may be there twice: one that an edit voided, and the next one of the same person in the same millisecond.
        const known = recorded.get(name)
        names.add(name)
        if (!known) {
          // Links of earlier versions name no effect keys, and one that was added only makes svc ask a person.
          if (isCovered === true && !name.startsWith(EFFECT_ROW)) return offence(seq, `No save wrote the row "${name}"`)
          uncovered++
        } else if (known.salt === null) uncovered++
        else if (known.digest !== AT_WORK && digestOfRow(known.salt, lines) !== known.digest)
          return offence(known.seq, `The row "${name}" is not as the save ${known.version} left it`)
      }
      for (const [name, { seq: at, version }] of recorded)
        if (!names.has(name)) return offence(at, `The row "${name}", which the save ${version} wrote, is gone`)
      return undefined
    },
  }
}
