/** Whether what operators set up is what their acts made of it. Source: docs/design/audit.md#what-operators-set-up */
import type { ActRecord } from '../people/act.ts'
import type { SetupDigest, SetupName } from '../people/setup-name.ts'
import { digestOfRow, type ChainedRow } from './session-link.ts'
import type { ChainOffence } from './verify-acts.ts'

/** A row as it is stored now. */
export interface SetupRow extends ChainedRow {
  /** Text of what was signed, which a line has by its digest. */
  readonly envelope?: string
}

/** In place of a digest: the act removed the row. */
export const REMOVED = ''

/** @param lines of the row after the act; none where it is gone */
export const toSetupDigest = (salt: string, name: SetupName, lines: readonly string[]): SetupDigest => [
  name,
  lines.length === 0 ? REMOVED : digestOfRow(salt, lines),
]

const isMember = (name: SetupName): boolean => name.startsWith('version ') || name.startsWith('document ')

interface RecordedSetup {
  readonly digest: string
  /** Null once the content of the act is erased, or where an export leaves it out. */
  readonly salt: string | null
  readonly act: number
}

/** Of this row only that it is there is known. */
export interface UncheckedSetup {
  readonly row: string
  /** The last act that named it, whose content was erased; null where acts of an earlier version of svc named no rows. */
  readonly act: number | null
}

export interface SetupVerifier {
  /** Acts of a workspace in order. */
  add(act: ActRecord): void
  /** @returns the first row that is not as its last act left it, that no act made, or that is gone */
  check(rows: readonly ChainedRow[]): ChainOffence | undefined
  /** Rows that were compared with their acts. */
  readonly checked: number
  /** The others, in order. */
  readonly unchecked: readonly UncheckedSetup[]
  /** Numbers of the acts that named a row, in order. Those of what an earlier version of svc published do not say how: there are none. */
  readonly actsOf: (name: string) => readonly number[]
}

export function createSetupVerifier(): SetupVerifier {
  const recorded = new Map<string, RecordedSetup>()
  const named = new Map<string, number[]>()
  const unchecked: UncheckedSetup[] = []
  let [last, checked] = [0, 0]
  /** False once there is an act of a version of svc whose acts named no rows: what it changed is not known. */
  let isCovered = true
  const offence = (seq: number, what: string): ChainOffence => ({ seq, rule: 'row', what })
  return {
    get checked() {
      return checked
    },
    unchecked,
    actsOf: (name) => named.get(name) ?? [],
    add({ seq, kind, salt, rowDigests }) {
      last = seq
      if (!rowDigests) {
        isCovered = false
        return recorded.clear()
      }
      for (const [name, digest] of rowDigests) {
        recorded.set(name, { digest, salt, act: seq })
        const acts = named.get(name)
        if (acts) acts.push(seq)
        else if (isCovered || !isMember(name) || kind === 'version.published') named.set(name, [seq])
      }
    },
    check(rows) {
      const names = new Set<string>()
      for (const { name, lines } of rows) {
        const known = recorded.get(name)
        if (names.has(name)) return offence(last, `The row "${name}" is there twice.`)
        names.add(name)
        if (!known) {
          if (isCovered) return offence(last, `No act made the row "${name}".`)
          unchecked.push({ row: name, act: null })
          continue
        }
        if (known.digest === REMOVED)
          return offence(known.act, `The row "${name}", which act ${known.act} removed, is there again.`)
        if (known.salt === null) {
          unchecked.push({ row: name, act: known.act })
          continue
        }
        if (digestOfRow(known.salt, lines) !== known.digest)
          return offence(known.act, `The row "${name}" is not as act ${known.act} left it.`)
        checked++
      }
      for (const [name, { digest, act }] of recorded)
        if (digest !== REMOVED && !names.has(name))
          return offence(act, `The row "${name}", which act ${act} made, is gone.`)
      return undefined
    },
  }
}
