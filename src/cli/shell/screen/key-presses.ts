/**
 * Tells a key that a person pressed from everything else that arrives at a terminal: sequences split over reads, pastes,
 * reports and replies. Time is an argument, so a test lives through any delay.
 */
import { createKeyDecoder, type PendingInput } from './keys.ts'

/** What arrives within this time of each other belongs together: parts of a sequence, a paste, a held key. */
const BURST_MS = 200

/** An Escape that is followed by nothing for this time is the key. */
const ESCAPE_MS = 60

/** An unfinished sequence is given up, and a slow connection has brought its rest, within this time. */
const SEQUENCE_MS = 1000

/** A key that decides follows a silence of this length, which nobody notices who has read what there is to decide. */
const SILENCE_MS = 400

export interface KeyPress {
  /** A character or the name of a key; each character of a paste is a press of its own, with `isPasted`. */
  readonly key: string
  readonly isPasted: boolean
  readonly at: number
  /** `open` while it is not known whether more belongs to it; `alone` if nothing did, and silence came before it. */
  readonly standing: () => 'open' | 'alone' | 'not alone'
}

export interface KeyPressReader {
  receive(bytes: Uint8Array, now: number): readonly KeyPress[]
  /** When `settle` is to be called, if nothing arrives before; undefined where nothing is open. */
  readonly settlesAt: number | undefined
  /** Nothing more has come: ends what is open. */
  settle(now: number): readonly KeyPress[]
}

/** What arrived without a pause. */
interface InputBurst {
  tokens: number
  isOpen: boolean
  readonly followsSilence: boolean
  lastAt: number
}

/** @param beginsAt when it begins to read: what came right before, such as the beginning of a paste, went to another reader */
export function createKeyPressReader(beginsAt: number): KeyPressReader {
  const decoder = createKeyDecoder()
  let burst: InputBurst | undefined
  let lastAt = beginsAt

  const pressesOf = (tokens: ReturnType<typeof decoder.push>, within: InputBurst, now: number): KeyPress[] =>
    tokens.flatMap(({ key, pasted }) => {
      within.tokens++
      const standing = (): ReturnType<KeyPress['standing']> => {
        if (pasted !== undefined || within.tokens > 1 || !within.followsSilence) return 'not alone'
        return within.isOpen ? 'open' : 'alone'
      }
      const keys = key === undefined ? Array.from(pasted ?? '') : [key]
      return keys.map((each) => ({ key: each, isPasted: pasted !== undefined, at: now, standing }))
    })
  return {
    receive(bytes, now) {
      burst ??= { tokens: 0, isOpen: true, followsSilence: now - lastAt >= SILENCE_MS, lastAt: now }
      burst.lastAt = now
      lastAt = now
      return pressesOf(decoder.push(bytes), burst, now)
    },
    get settlesAt() {
      return burst && patienceFor(decoder.pending) + burst.lastAt
    },
    settle(now) {
      if (!burst) return []
      const presses = pressesOf(decoder.giveUp(), burst, now)
      if (now < burst.lastAt + BURST_MS) return presses
      burst.isOpen = false
      burst = undefined
      return presses
    },
  }
}

const patienceFor = (pending: PendingInput | undefined): number =>
  // The end of a paste comes, however long it takes; meanwhile Ctrl-C remains.
  ({ paste: Infinity, sequence: SEQUENCE_MS, escape: ESCAPE_MS, nothing: BURST_MS })[pending ?? 'nothing']
