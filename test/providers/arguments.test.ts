import { expect, test } from 'vitest'
import { parseArguments, printArguments } from '../../src/providers/arguments.ts'

test.each([
  ['no JSON', '{"sku": '],
  ['no object', '[1]'],
  ['nested too deep to be kept', `{"a":${'['.repeat(1500)}${']'.repeat(1500)}}`],
])('arguments that are %s are kept as their text', (_, text) => {
  expect(parseArguments(text)).toEqual({ $unparsed: text })
  expect(printArguments(parseArguments(text))).toBe(text)
})
