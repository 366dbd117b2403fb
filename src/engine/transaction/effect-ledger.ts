/**
 * Effect keys in a transaction: which calls hold them, and the changes by calls of this session.
 * Source: docs/design/policies.md#effect-keys
 */
import type { RunId } from '../../base/ids.ts'
import type { EffectRecord } from '../../spec/effect.ts'
import type { EffectChange, EffectEnd } from '../../store/session-update.ts'
import { callKey } from '../session/keys.ts'

export interface EffectLedger {
  /**
   * Calls that hold the key, or would if the one that does gave it back: the holder first.
   * @throws UnreadEffects when the key was not read for this transaction
   */
  ofKey(key: string): readonly EffectRecord[]
  /** Takes a key for a call that leaves with this transaction. */
  take(record: EffectRecord): void
  extend(record: EffectRecord, notAfter: number): void
  end(end: EffectEnd): void
  changes(): readonly EffectChange[]
}

/** Calls that stand for a key, as they were read; undefined where the key was not read. */
export type ReadEffects = (key: string) => readonly EffectRecord[] | undefined

/** A transaction needs to know who holds a key. The driver reads it and applies the same items again. */
export class UnreadEffects extends Error {
  readonly key: string
  constructor(key: string) {
    super(`The effect key ${key} was not read.`)
    this.key = key
  }
}

export function createEffectLedger(read: ReadEffects): EffectLedger {
  const changes: EffectChange[] = []
  const taken: EffectRecord[] = []
  const extended = new Set<string>()
  const ended = new Map<string, EffectEnd>()
  const keyOf = ({ runId, callId }: { runId: RunId; callId: string }): string => callKey(runId, callId)

  return {
    ofKey(key) {
      const stored = read(key)
      if (!stored) throw new UnreadEffects(key)
      return [...taken.filter((each) => each.key === key).toReversed(), ...stored].flatMap((record) => {
        const end = ended.get(keyOf(record))
        if (end?.state === 'not_made') return []
        if (end) {
          const { state, result } = end
          return [{ ...record, state, ...(result !== undefined && { result }) }]
        }
        return extended.has(record.id) ? [{ ...record, state: 'in_flight' as const }] : [record]
      })
    },
    take(record) {
      // The call may have given back a key in the same transaction.
      ended.delete(keyOf(record))
      taken.push(record)
      const { workspaceId: _, state: __, holds: ___, result: ____, released: _____, ...claim } = record
      changes.push({ take: claim })
    },
    extend({ id }, notAfter) {
      extended.add(id)
      changes.push({ extend: { id, notAfter } })
    },
    end(end) {
      ended.set(keyOf(end), end)
      changes.push({ end })
    },
    changes: () => changes,
  }
}
