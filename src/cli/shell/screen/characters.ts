/** Splits bytes into characters: UTF-8, and 8-bit controls of terminals that speak no UTF-8. */

export interface CharacterReader {
  push(bytes: Uint8Array): string[]
  /** True where a character has begun and its rest has not come. */
  readonly isWithin: boolean
  /** Forgets the beginning of a character. @returns true if there was one */
  giveUp(): boolean
}

/** Stands for bytes that are no character. */
export const NO_CHARACTER = '\ufffd'

/** Unlike `StringDecoder`, it says whether a character is unfinished, and keeps the 8-bit controls. */
export function createCharacterReader(): CharacterReader {
  let begun: number[] = []
  const take = (byte: number): string[] => {
    if (begun.length > 0 && isContinuation(byte)) {
      begun.push(byte)
      if (begun.length < lengthFrom(begun)) return []
      const whole = Buffer.from(begun).toString('utf8')
      begun = []
      return Array.from(whole)
    }
    const before = begun.length > 0 ? [NO_CHARACTER] : []
    begun = []
    if (lengthFrom([byte]) > 1) begun = [byte]
    else return [...before, byte < 0xa0 ? String.fromCharCode(byte) : NO_CHARACTER]
    return before
  }
  return {
    push: (bytes) => Array.from(bytes).flatMap(take),
    get isWithin() {
      return begun.length > 0
    },
    giveUp() {
      const wasWithin = begun.length > 0
      begun = []
      return wasWithin
    },
  }
}

const isContinuation = (byte: number): boolean => byte >= 0x80 && byte <= 0xbf

function lengthFrom([first = 0]: readonly number[]): number {
  if (first < 0xc2 || first > 0xf4) return 1
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}
