/** What a terminal sends, whole and in pieces, in virtual time. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createKeyPressReader, type KeyPress } from '../../src/cli/shell/screen/key-presses.ts'
import { createKeyDecoder, unparseKeys } from '../../src/cli/shell/screen/keys.ts'

/** The keys of a card that decide, with those of its questions. */
const DECIDING = Array.from('arety123456789')

interface Arrival {
  readonly bytes: Uint8Array
  /** Milliseconds after the one before. */
  readonly after: number
}

/** All that a reader gives for what arrives, with a long silence behind it. */
function pressesOf(arrivals: readonly Arrival[]): readonly KeyPress[] {
  const reader = createKeyPressReader(-Infinity)
  const presses: KeyPress[] = []
  let now = 10_000
  const settleUntil = (then: number): void => {
    for (let due = reader.settlesAt; due !== undefined && due <= then; due = reader.settlesAt)
      presses.push(...reader.settle(due))
  }
  for (const { bytes, after } of arrivals) {
    settleUntil(now + after)
    now += after
    presses.push(...reader.receive(bytes, now))
  }
  settleUntil(now + 60_000)
  return presses
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8')
const decidedBy = (arrivals: readonly Arrival[]): string[] =>
  pressesOf(arrivals)
    .filter((press) => DECIDING.includes(press.key) && press.standing() === 'alone')
    .map(({ key }) => key)
const namesOf = (text: string): string[] => pressesOf([{ bytes: bytesOf(text), after: 0 }]).map(({ key }) => key)

test.each([
  ['a', ['a']],
  ['jk\r', ['j', 'k', 'Enter']],
  ['\x1b[A\x1bOB', ['Up', 'Down']],
  ['\x1b[5~\x1b[6~', ['PageUp', 'PageDown']],
  ['\x1b', ['Escape']],
  ['\x1b\x1b', ['Escape']],
  ['\x03\x7f', ['Ctrl-C', 'Backspace']],
  ['\x1b[1;5R\x01ü', ['ü']],
  ['\x1b[200~ab\x1b[20\x1b[201~', ['a', 'b', '\x1b', '[', '2', '0']],
  ['\x1b[99;5u', ['Ctrl-C']],
  ['\x1b]0;a\x03', ['Ctrl-C']],
])('%j is the keys %j', (typed, keys) => {
  expect(namesOf(typed)).toEqual(keys)
})

/** Real sequences of terminals that contain letters or digits. A form that is met elsewhere is one line more. */
const SEQUENCES: readonly (readonly [name: string, bytes: string | Uint8Array])[] = [
  ['arrow up', '\x1b[A'],
  ['arrow in application mode', '\x1bOD'],
  ['Ctrl and an arrow', '\x1b[1;5A'],
  ['Shift and an arrow, rxvt', '\x1b[a'],
  ['Ctrl and an arrow, rxvt', '\x1bOa'],
  ['Alt and an arrow, rxvt', '\x1b\x1b[A'],
  ['F1, Linux console', '\x1b[[A'],
  ['F5, Linux console', '\x1b[[E'],
  ['F1, xterm', '\x1bOP'],
  ['F1 with a modifier, xterm', '\x1b[1;2P'],
  ['F1 with a modifier, old xterm', '\x1bO2P'],
  ['F5, VT220', '\x1b[15~'],
  ['Shift and Delete, rxvt', '\x1b[3$'],
  ['keypad digit', '\x1bOq'],
  ['Alt and a', '\x1ba'],
  ['Alt and A', '\x1bA'],
  ['Alt and 1', '\x1b1'],
  ['Alt and O, then a', '\x1bOa'],
  ['Meta and a in 8 bits', Uint8Array.of(0xe1)],
  ['mouse report, X10', '\x1b[M !!'],
  ['mouse report, X10, at column 65', '\x1b[M aa'],
  ['mouse report, X10, beyond column 95', Uint8Array.of(0x1b, 0x5b, 0x4d, 0x20, 0xe1, 0x61)],
  ['mouse report, UTF-8', '\x1b[M á1'],
  ['mouse report, SGR press', '\x1b[<0;1;1M'],
  ['mouse report, SGR release', '\x1b[<0;33;12m'],
  ['mouse report, urxvt', '\x1b[32;1;1M'],
  ['highlight report', '\x1b[taa'],
  ['highlight report of a region', '\x1b[Taaraar'],
  ['locator report, DEC', '\x1b[1;2;3;4&w'],
  ['focus gained', '\x1b[I'],
  ['focus lost', '\x1b[O'],
  ['primary device attributes', '\x1b[?62;1;2;4c'],
  ['secondary device attributes', '\x1b[>41;354;0c'],
  ['tertiary device attributes', '\x1bP!|00000000\x1b\\'],
  ['cursor position', '\x1b[24;80R'],
  ['status report', '\x1b[0n'],
  ['mode report', '\x1b[?2026;2$y'],
  ['window size', '\x1b[8;24;80t'],
  ['colour, ended by BEL', '\x1b]11;rgb:aaaa/eeee/1111\x07'],
  ['colour, ended by ST', '\x1b]4;1;rgb:aaaa/eeee/1111\x1b\\'],
  ['clipboard', '\x1b]52;c;YXBwcm92ZQ==\x07'],
  ['title', '\x1b]lapprove\x1b\\'],
  ['capability', '\x1bP1+r544e=61\x1b\\'],
  ['version of the terminal', '\x1bP>|tmux 3.4a\x1b\\'],
  ['answer of a graphics protocol', '\x1b_Gi=31;a\x1b\\'],
  ['privacy message', '\x1b^a\x1b\\'],
  ['CSI in 8 bits', Uint8Array.of(0x9b, 0x61)],
  ['CSI as U+009B', '\u009b1;5a'],
  ['DCS in 8 bits', Uint8Array.of(0x90, 0x61, 0x9c)],
  ['key a, kitty', '\x1b[97u'],
  ['key a with its text, kitty', '\x1b[97;1:1;97u'],
  ['flags, kitty', '\x1b[?1u'],
  ['key a, modifyOtherKeys', '\x1b[27;5;97~'],
  ['Win32 input mode', '\x1b[65;30;97;1;0;1_'],
  ['character set', '\x1b(a'],
  ['paste, enclosed', '\x1b[200~a\x1b[201~'],
  ['paste that looks like an end', '\x1b[200~\x1b[201a\x1b[201~'],
  ['paste of a line, enclosed', '\x1b[200~approve\n\x1b[201~'],
  ['paste', 'approve'],
  ['paste of a line', 'a\n'],
  ['paste that ends so', 'area'],
  ['held key', 'aaaaa'],
  ['capital letter', 'A'],
  ['full-width letter', 'ａ'],
  ['letter with an accent', 'a\u0301'],
  ['letter of another alphabet', 'а'],
]

const raw = (bytes: string | Uint8Array): Uint8Array => (typeof bytes === 'string' ? bytesOf(bytes) : bytes)

/** Cuts bytes anywhere, any number of times, with pauses in between. */
const splitsOf = (bytes: Uint8Array, longestPause: number): fc.Arbitrary<readonly Arrival[]> =>
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: Math.max(1, bytes.length - 1) }), fc.nat(longestPause)), {
      maxLength: bytes.length,
    })
    .map((cuts) => {
      const pauses = new Map(cuts)
      const places = [0, ...[...pauses.keys()].filter((at) => at < bytes.length).toSorted((a, b) => a - b)]
      return places.map((at, index) => ({
        bytes: bytes.subarray(at, places[index + 1] ?? bytes.length),
        after: pauses.get(at) ?? 0,
      }))
    })

/** Nothing that svc cannot tell from a person: a pause of this length begins another press. */
const SAME_BURST_MS = 199

describe('no part of it decides, however it is split', () => {
  test.each(SEQUENCES)('%s', (_, sequence) => {
    fc.assert(
      fc.property(splitsOf(raw(sequence), SAME_BURST_MS), (arrivals) => {
        expect(decidedBy(arrivals)).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  test.each(SEQUENCES.filter(([, bytes]) => raw(bytes)[0] === 0x1b))('%s, on a slow connection', (_, sequence) => {
    fc.assert(
      fc.property(splitsOf(raw(sequence), 399), (arrivals) => {
        expect(decidedBy(arrivals)).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  const anything = fc
    .array(
      fc.oneof(
        fc.constantFrom(...SEQUENCES.map(([, bytes]) => raw(bytes))),
        fc.uint8Array({ minLength: 1, maxLength: 6 }),
        fc.constantFrom(...DECIDING.map(bytesOf)),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => new Uint8Array(Buffer.concat(parts)))
    .filter((bytes) => bytes.length > 1)

  test('any bytes that are not one key', () => {
    fc.assert(
      fc.property(
        anything.chain((bytes) => splitsOf(bytes, SAME_BURST_MS)),
        (arrivals) => {
          expect(decidedBy(arrivals)).toEqual([])
        },
      ),
      { numRuns: 2000 },
    )
  })
})

test.each(DECIDING)('%s decides where it was pressed alone, and after a silence', (key) => {
  expect(decidedBy([{ bytes: bytesOf(key), after: 0 }])).toEqual([key])
  expect(
    decidedBy([
      { bytes: bytesOf('\x1b[I'), after: 0 },
      { bytes: bytesOf(key), after: 400 },
    ]),
  ).toEqual([key])
  expect(
    decidedBy([
      { bytes: bytesOf('\x1b[I'), after: 0 },
      { bytes: bytesOf(key), after: 399 },
    ]),
  ).toEqual([])
})

test.each(SEQUENCES)('the rest of %s, whose beginning another reader took, decides nothing', (_, sequence) => {
  const bytes = raw(sequence)
  for (let cut = 1; cut < bytes.length; cut++) {
    const reader = createKeyPressReader(10_000)
    const presses = [...reader.receive(bytes.subarray(cut), 10_001)]
    for (let due = reader.settlesAt; due !== undefined && due < 70_000; due = reader.settlesAt)
      presses.push(...reader.settle(due))
    expect(presses.filter(({ key, standing }) => DECIDING.includes(key) && standing() === 'alone')).toEqual([])
  }
})

test('a sequence without an end takes keys away for a second, and never Ctrl-C', () => {
  const after = (ms: number): string[] =>
    pressesOf([
      { bytes: bytesOf('\x1b]'), after: 0 },
      { bytes: bytesOf('a'), after: ms },
    ]).map(({ key }) => key)
  expect(after(900)).toEqual([])
  expect(after(1001)).toEqual(['a'])
  fc.assert(
    fc.property(fc.constantFrom(...SEQUENCES.map(([, bytes]) => raw(bytes))), fc.nat(40), (bytes, at) => {
      const decoder = createKeyDecoder()
      decoder.push(bytes.subarray(0, at))
      expect(decoder.push(Uint8Array.of(3)).at(-1)).toEqual({ key: 'Ctrl-C' })
    }),
  )
})

test('keys that are typed for another reader are the same keys there', () => {
  const keys = ['a', 'ü', 'Up', 'PageDown', 'Home', 'Enter', 'Backspace', 'Tab', 'Ctrl-C', '日']
  expect(namesOf(unparseKeys(keys))).toEqual(keys)
})
