import { expect, test } from 'vitest'
import { matchKey, parseKeys } from '../../src/cli/shell/screen/keys.ts'

test.each([
  ['a', ['a']],
  ['jk\r', ['j', 'k', 'Enter']],
  ['\x1b[A\x1bOB', ['Up', 'Down']],
  ['\x1b[5~\x1b[6~', ['PageUp', 'PageDown']],
  ['\x1b', ['Escape']],
  ['\x03\x7f', ['Ctrl-C', 'Backspace']],
  ['\x1b[1;5R\x01ü', ['ü']],
])('%j is the keys %j', (typed, keys) => {
  expect(parseKeys(typed)).toEqual(keys)
})

test.each([
  ['A', ['a', 'r'], 'a'],
  ['W', ['w', 'W'], 'W'],
  ['w', ['w', 'W'], 'w'],
  ['w', ['W'], undefined],
  ['x', 'any', 'x'],
  ['Enter', ['e'], undefined],
] as const)('%s among %j is %s', (typed, keys, chosen) => {
  expect(matchKey(typed, keys)).toBe(chosen)
})
