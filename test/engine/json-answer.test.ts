import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJsonAnswer } from '../../src/engine/machine/output.ts'

/** How models wrap a JSON answer; a new way is one more line. */
const WRAPPINGS: readonly (readonly [name: string, wrap: (json: string) => string])[] = [
  ['nothing', (json) => json],
  ['blanks', (json) => `\n  ${json}\n`],
  ['a fence with its language', (json) => `\`\`\`json\n${json}\n\`\`\``],
  ['a bare fence', (json) => `\`\`\`\n${json}\n\`\`\`\n`],
  ['a fence with CRLF', (json) => `\`\`\`JSON\r\n${json}\r\n\`\`\``],
  ['a fence of tildes', (json) => `~~~\n${json}\n~~~`],
  ['thinking', (json) => `<think>let me {"see"}</think>\n\n${json}`],
  ['thinking, then a fence', (json) => `<thinking>\nhm\n</thinking>\n\`\`\`json\n${json}\n\`\`\``],
  ['a byte order mark', (json) => `\ufeff${json}`],
]

/** Numbers that can be kept exactly: others are refused as they are anywhere. */
const anyJson = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.string({ maxLength: 4 }), tie('json'), { maxKeys: 3 }),
  ),
})).json

test.each(WRAPPINGS)('JSON within %s is the JSON', (_, wrap) => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const json = JSON.stringify(value)
      expect(parseJsonAnswer(wrap(json))).toEqual(JSON.parse(json))
    }),
  )
})

test.each([
  'Here it is: {"a":1}.',
  '{"a":1} {"a":2}',
  '```json\n{"a":1}\n```\n```json\n{"a":2}\n```',
  'Sure!\n```json\n{"a":1}\n```',
  '<think>{"a":1}',
  '',
])('%j is no JSON answer', (text) => {
  expect(() => parseJsonAnswer(text)).toThrow(SyntaxError)
})
