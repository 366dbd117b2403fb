/** Keys as a terminal sends them in raw mode. */

/** Names of keys that are no character. */
const NAMED: Readonly<Record<string, string>> = {
  '\r': 'Enter',
  '\n': 'Enter',
  '\t': 'Tab',
  '\u007f': 'Backspace',
  '\b': 'Backspace',
  '\u0003': 'Ctrl-C',
  '\u0004': 'Ctrl-D',
  '\u001b': 'Escape',
}

const SEQUENCES: Readonly<Record<string, string>> = {
  A: 'Up',
  B: 'Down',
  C: 'Right',
  D: 'Left',
  H: 'Home',
  F: 'End',
  '5~': 'PageUp',
  '6~': 'PageDown',
}

const PIECES = new RegExp(String.raw`\u001b[\[O]([0-9;]*[A-Za-z~])|[\s\S]`, 'gu')

/** The keys of a chunk: characters unchanged, other keys by name; unknown sequences are left out. */
export function parseKeys(chunk: string): string[] {
  return [...chunk.matchAll(PIECES)].flatMap(([piece, sequence]) => {
    if (sequence !== undefined) return SEQUENCES[sequence] ?? []
    return NAMED[piece] ?? (piece < ' ' ? [] : piece)
  })
}

/** The key of `keys` that was typed; a letter counts in either case, the exact one first. */
export function matchKey(typed: string, keys: readonly string[] | 'any'): string | undefined {
  if (keys === 'any' || keys.includes(typed)) return typed
  return typed.length === 1 ? keys.find((each) => each === typed.toLowerCase()) : undefined
}

const TYPED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(SEQUENCES).map(([sequence, key]) => [key, `\u001b[${sequence}`])),
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
