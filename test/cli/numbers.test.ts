import { expect, test } from 'vitest'
import { parseMoment } from '../../src/cli/shell/numbers.ts'

const now = Date.parse('2026-11-20T12:00:00Z')

test.each([
  ['10m', '2026-11-20T11:50:00.000Z'],
  ['1h30m', '2026-11-20T10:30:00.000Z'],
  ['2026-11-19', '2026-11-19T00:00:00.000Z'],
  ['2026-11-19T08:00:00Z', '2026-11-19T08:00:00.000Z'],
  ['2026-11-19T08:00:00.5+01:00', '2026-11-19T07:00:00.500Z'],
])('%s is a time', (text, expected) => {
  expect(new Date(parseMoment(text, now)).toISOString()).toBe(expected)
})

test.each(['99', '0', '-5', '2026', '2026-11', '2026-02-30', '2026-13-01', 'Nov 3', 'yesterday', '10', '1e3', ''])(
  '"%s" is none',
  (text) => {
    expect(() => parseMoment(text, now)).toThrow(`"${text}" is not a time; write 10m, 2026-11-20 or an RFC 3339 time.`)
  },
)
