/** Decodes what a terminal sends in raw mode into keys, pastes, and whole sequences that mean nothing to svc. */
import { cutText } from '../../../base/text/cut-text.ts'
import { createCharacterReader, NO_CHARACTER } from './characters.ts'

/**
 * One whole thing that arrived. `key` is a character, or the name of a key that is none. Alt and a key, a function key, a
 * mouse report or the reply to a query has neither `key` nor `pasted`: no part of it is ever taken for a key.
 */
export interface TypedToken {
  readonly key?: string
  readonly pasted?: string
}

/**
 * What the decoder waits for: `escape` is a lone Escape, which is a key or begins a sequence; `sequence` is the rest of
 * one; `paste` is the end of a paste.
 */
export type PendingInput = 'escape' | 'sequence' | 'paste'

export interface KeyDecoder {
  push(bytes: Uint8Array): readonly TypedToken[]
  readonly pending: PendingInput | undefined
  /** Called when nothing more has come for a while: a lone Escape is the key, an unfinished sequence is nothing. */
  giveUp(): readonly TypedToken[]
}

/** Characters that are keys with a name. */
const NAMED_CHARACTERS: Readonly<Record<string, string>> = {
  '\r': 'Enter',
  '\n': 'Enter',
  '\t': 'Tab',
  '\u007f': 'Backspace',
  '\b': 'Backspace',
  '\u0003': 'Ctrl-C',
  '\u0004': 'Ctrl-D',
}

/** Keys by what follows `ESC [`; cursor keys also follow `ESC O`. A cursor key with a modifier is not the cursor key. */
const NAMED_SEQUENCES: Readonly<Record<string, string>> = {
  A: 'Up',
  B: 'Down',
  C: 'Right',
  D: 'Left',
  H: 'Home',
  F: 'End',
  '1~': 'Home',
  '4~': 'End',
  '7~': 'Home',
  '8~': 'End',
  '5~': 'PageUp',
  '6~': 'PageDown',
  // The same keys where a terminal was left in the keyboard protocol of kitty or of xterm: a way out must remain.
  '27u': 'Escape',
  '99;5u': 'Ctrl-C',
  '100;5u': 'Ctrl-D',
  '27;5;99~': 'Ctrl-C',
}

/** Characters that belong to a sequence behind its end, by what follows `ESC [`. */
const TRAILING_CHARACTERS: Readonly<Record<string, number>> = {
  '[': 1, // function keys of the Linux console: ESC [ [ A
  M: 3, // mouse report of X10: button, column, row
  t: 2, // highlight tracking: column, row
  T: 6, // highlight tracking: three positions
}

/** 8-bit controls that begin a sequence, and their 7-bit spelling behind ESC. */
const C1_INTRODUCERS: Readonly<Record<string, string>> = {
  '\u008f': 'O',
  '\u0090': 'P',
  '\u0098': 'X',
  '\u009b': '[',
  '\u009d': ']',
  '\u009e': '^',
  '\u009f': '_',
}

const STRING_INTRODUCERS = 'PX]^_'
const PASTE_END = '\u001b[201~'

/** A longer sequence is none that a terminal sends; what follows is still swallowed, but not kept. */
const LONGEST_SEQUENCE = 64

/** More of a paste is left out: nobody filters a list by more. */
const LONGEST_PASTE = 10_000

type DecoderState =
  | { readonly at: 'ground' | 'escape' | 'string' }
  /** Behind ESC and characters between space and `/`. */
  | { readonly at: 'intermediate' }
  | { readonly at: 'csi' | 'ss3'; readonly so: string }
  | { readonly at: 'trailing'; readonly left: number }
  /** `matched` characters of the end have come, which may be part of the text. */
  | { readonly at: 'paste'; readonly text: string; readonly matched: number }

const GROUND = { at: 'ground' } as const

export function createKeyDecoder(): KeyDecoder {
  const characters = createCharacterReader()
  let state: DecoderState = GROUND

  const step = (character: string): TypedToken | undefined => {
    // Before all else, so that nothing that arrives can take the way out away.
    if (character === '\u0003') {
      state = GROUND
      return { key: 'Ctrl-C' }
    }
    if (state.at === 'paste') return continuePaste(state.text, state.matched, character)
    if (state.at === 'trailing') return finishAfter(state.left - 1)
    // Escape begins anew, and CAN and SUB cancel, in the middle of every sequence.
    if (character === '\u001b') return startEscape()
    if (character === '\u0018' || character === '\u001a') return finish({})
    switch (state.at) {
      case 'ground':
        return startOf(character)
      case 'escape':
        return introduce(character)
      case 'intermediate':
        return character >= ' ' && character <= '/' ? undefined : finish({})
      case 'string':
        return character === '\u0007' || character === '\u009c' ? finish({}) : undefined
      case 'ss3':
        if (/[\d;]/.test(character)) return void (state = { at: 'ss3', so: keepShort(state.so + character) })
        return finish(namedToken(state.so + character))
      case 'csi':
        return continueControl(state.so + character, character)
    }
  }
  const finish = (token: TypedToken): TypedToken => {
    state = GROUND
    return token
  }
  const finishAfter = (left: number): TypedToken | undefined => {
    if (left <= 0) return finish({})
    state = { at: 'trailing', left }
    return undefined
  }
  const startEscape = (): TypedToken | undefined => {
    const isCutShort = state.at !== 'ground'
    state = { at: 'escape' }
    return isCutShort ? {} : undefined
  }
  const startOf = (character: string): TypedToken | undefined => {
    const introducer = C1_INTRODUCERS[character]
    if (introducer !== undefined) return introduce(introducer)
    const named = NAMED_CHARACTERS[character]
    if (named !== undefined) return { key: named }
    return isControl(character) ? {} : { key: character }
  }
  const introduce = (character: string): TypedToken | undefined => {
    if (character === '[') return void (state = { at: 'csi', so: '' })
    if (character === 'O') return void (state = { at: 'ss3', so: '' })
    if (STRING_INTRODUCERS.includes(character)) return void (state = { at: 'string' })
    if (character >= ' ' && character <= '/') return void (state = { at: 'intermediate' })
    // Alt and a key.
    return finish({})
  }
  const continueControl = (so: string, character: string): TypedToken | undefined => {
    if (character < '@' || character > '~') return void (state = { at: 'csi', so: keepShort(so) })
    if (so === '200~') return void (state = { at: 'paste', text: '', matched: 0 })
    const trailing = TRAILING_CHARACTERS[so]
    return trailing === undefined ? finish(namedToken(so)) : finishAfter(trailing)
  }
  const continuePaste = (text: string, matched: number, character: string): TypedToken | undefined => {
    const begun = character === PASTE_END[0] ? 1 : 0
    const next = character === PASTE_END[matched] ? matched + 1 : begun
    if (next === PASTE_END.length) return finish({ pasted: text })
    const added = next > matched ? '' : PASTE_END.slice(0, matched) + (next === 1 ? '' : character)
    state = { at: 'paste', text: text.length < LONGEST_PASTE ? text + added : text, matched: next }
    return undefined
  }

  return {
    push(bytes) {
      return characters.push(bytes).flatMap((character) => step(character) ?? [])
    },
    get pending() {
      if (state.at === 'ground') return characters.isWithin ? 'sequence' : undefined
      return state.at === 'escape' || state.at === 'paste' ? state.at : 'sequence'
    },
    giveUp() {
      if (characters.giveUp()) return [finish({})]
      if (state.at === 'ground' || state.at === 'paste') return []
      return [finish(state.at === 'escape' ? { key: 'Escape' } : {})]
    },
  }
}

const isControl = (character: string): boolean =>
  character < ' ' || (character >= '\u007f' && character <= '\u009f') || character === NO_CHARACTER

const namedToken = (sequence: string): TypedToken => {
  const key = NAMED_SEQUENCES[sequence]
  return key === undefined ? {} : { key }
}

const keepShort = (sequence: string): string => cutText(sequence, LONGEST_SEQUENCE).text

const TYPED: Readonly<Record<string, string>> = {
  Up: '\u001b[A',
  Down: '\u001b[B',
  Right: '\u001b[C',
  Left: '\u001b[D',
  Home: '\u001b[H',
  End: '\u001b[F',
  PageUp: '\u001b[5~',
  PageDown: '\u001b[6~',
  Enter: '\r',
  Tab: '\t',
  Backspace: '\u007f',
  'Ctrl-C': '\u0003',
  'Ctrl-D': '\u0004',
  Escape: '\u001b',
}

/** The keys as a terminal sends them, for another reader. */
export const unparseKeys = (keys: readonly string[]): string => keys.map((key) => TYPED[key] ?? key).join('')

/** Keys that end the command, even when typed early. */
export const isInterrupt = (key: string): boolean => key === 'Ctrl-C' || key === 'Ctrl-D'
