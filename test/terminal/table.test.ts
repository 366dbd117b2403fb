import { expect, test } from 'vitest'
import { drawCard } from '../../src/terminal/card.ts'
import { drawTable, type TableColumn } from '../../src/terminal/table.ts'
import { styleOfStatus } from '../../src/terminal/theme.ts'
import { shortDuration, shortId } from '../../src/base/text/short-text.ts'
import { formatDuration, formatRelative, timeOfDay } from '../../src/terminal/time.ts'
import { canvasOf, PIPE } from './recording.ts'

interface Row {
  readonly id: string
  readonly agent: string
  readonly status: string
  readonly tokens: number
  readonly note?: string
}

const columns: readonly TableColumn<Row>[] = [
  { title: 'RUN', cell: (row) => shortId(row.id), plain: (row) => row.id },
  { title: 'AGENT', cell: (row) => row.agent },
  { title: 'STATUS', cell: (row) => row.status, style: (theme, row) => styleOfStatus(theme, row.status) },
  { title: 'TOKENS', cell: (row) => String(row.tokens), align: 'right' },
  { title: '', cell: (row) => row.note ?? '' },
]
const rows: readonly Row[] = [
  { id: '019a9f3e-0000-7000-8000-0000003f2a91', agent: 'acme.refund-desk', status: 'Completed', tokens: 412 },
  {
    id: '77d0c4b2-6e0f-4a57-9d7a-0a0b7b1d2f11',
    agent: 'acme.世界',
    status: 'WaitingForHITL',
    tokens: 1390,
    note: 'approval: acme.refunds',
  },
]

test('a table on a terminal is aligned, under a header', () => {
  expect(drawTable(canvasOf(80), columns, rows)).toEqual([
    'RUN     AGENT             STATUS          TOKENS',
    '3f2a91  acme.refund-desk  Completed          412',
    '1d2f11  acme.世界         WaitingForHITL    1390  approval: acme.refunds',
  ])
})

test('a narrow terminal takes from the widest columns', () => {
  expect(drawTable(canvasOf(40), columns, rows)).toEqual([
    'RUN     AGENT   STATUS   TOKENS',
    '3f2a91  acme.…  Comple…     412',
    '1d2f11  acme.…  Waitin…    1390  approv…',
  ])
})

test('nothing is wider than the terminal, however narrow', () => {
  expect(drawTable(canvasOf(12), columns, rows)).toEqual(['RUN     AGE…', '3f2a91  acm…', '1d2f11  acm…'])
})

test('colours say what a status means', () => {
  expect(drawTable(canvasOf(80, 1), columns.slice(0, 3), rows)).toEqual([
    '\x1b[2mRUN\x1b[22m     \x1b[2mAGENT\x1b[22m             \x1b[2mSTATUS\x1b[22m',
    '3f2a91  acme.refund-desk  \x1b[32mCompleted\x1b[39m',
    '1d2f11  acme.世界         \x1b[33mWaitingForHITL\x1b[39m',
  ])
})

test('a pipe gets whole values between tabs, and no header', () => {
  const hostile = { ...rows[0]!, agent: 'a\tb\nc\x1b[31m' }
  expect(drawTable(canvasOf(PIPE), columns, [rows[1]!, hostile])).toEqual([
    '77d0c4b2-6e0f-4a57-9d7a-0a0b7b1d2f11\tacme.世界\tWaitingForHITL\t1390\tapproval: acme.refunds',
    '019a9f3e-0000-7000-8000-0000003f2a91\ta\\tb\\nc\tCompleted\t412\t',
  ])
})

test('a card has a field a line, wrapped under its value', () => {
  const fields = [
    { key: 'run', value: '3f2a91' },
    { key: 'error', value: 'The provider did not answer in time.', style: (text: string) => `<${text}>` },
    { key: 'output', value: undefined },
  ]
  expect(drawCard(canvasOf(30), fields)).toEqual([
    'run    3f2a91',
    'error  <The provider did not>',
    '       <answer in time.>',
  ])
  expect(drawCard(canvasOf(PIPE), fields)).toEqual(['run\t3f2a91', 'error\tThe provider did not answer in time.'])
})

const S = 1000
const M = 60 * S
const H = 60 * M
test.each([
  [4, '4ms', '4 ms'],
  [8100, '8.1s', '8.1 s'],
  [9949, '9.9s', '9.9 s'],
  [9950, '9s', '9 s'],
  [42 * S, '42s', '42 s'],
  [29 * M + 59 * S, '29m', '29 min 59 s'],
  [30 * M, '30m', '30 min'],
  [5 * H + M, '5h', '5 h 1 min'],
  [72 * H, '3d', '3 days'],
])('%d ms is %s, or %s', (ms, short, long) => {
  expect([shortDuration(ms), formatDuration(ms)]).toEqual([short, long])
})

test.each([
  [0, 'just now'],
  [12 * S, '12 s ago'],
  [2 * M, '2 min ago'],
  [5 * H, '5 h ago'],
  [72 * H, '3 days ago'],
  [-29 * M, 'in 29 min'],
])('%d ms earlier is %s', (ms, said) => {
  const now = Date.parse('2026-11-20T10:42:00Z')
  expect(formatRelative(now - ms, now)).toBe(said)
})

test('the time of day is that of the reader', () => {
  const moment = Date.parse('2026-11-20T23:42:01.999Z')
  expect([timeOfDay(moment, 0), timeOfDay(moment, 60), timeOfDay(moment, -330)]).toEqual([
    '23:42:01',
    '00:42:01',
    '18:12:01',
  ])
})

test('a short id is the ending of a UUID; other words stay whole', () => {
  expect([shortId('019a9f3e-0000-7000-8000-0000003f2a91'), shortId('@last')]).toEqual(['3f2a91', '@last'])
})
