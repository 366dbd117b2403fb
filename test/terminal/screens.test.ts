/** The live screens whole, at the four widths for which they are made. */
import { expect, test } from 'vitest'
import { drawDevStatus, type DevStatus } from '../../src/terminal/dev-status.ts'
import { openFullScreen } from '../../src/terminal/full-screen.ts'
import { detailSize, drawListView, type ListView } from '../../src/terminal/list-view.ts'
import { drawTable, type TableColumn } from '../../src/terminal/table.ts'
import { widthOf } from '../../src/terminal/width.ts'
import { createTheme } from '../../src/terminal/theme.ts'
import { canvasOf } from './recording.ts'

const NOW = Date.parse('2026-11-20T10:42:00Z')

interface Row {
  readonly id: string
  readonly agent: string
  readonly what: string
  readonly expires: string
}

const columns: readonly TableColumn<Row>[] = [
  { title: 'TASK', cell: ({ id }) => id },
  { title: 'AGENT', dropOrder: 2, cell: ({ agent }) => agent },
  { title: 'WHAT', isFlexible: true, cell: ({ what }) => what },
  { title: 'EXPIRES', dropOrder: 1, cell: ({ expires }) => expires },
]

const view: ListView<Row> = {
  title: 'svc inbox · 2 waiting',
  note: 'operator ana',
  columns,
  rows: [
    { id: '9c1e77', agent: 'acme.refund-desk', what: 'acme.refunds amount 1500 (1/2)', expires: '28m → deny' },
    { id: 'b7aa10', agent: 'acme.support', what: 'Which address is right?', expires: '—' },
  ],
  chosen: 1,
  emptyMessage: 'Nothing waits.',
  detail: ['┌ Choice needed', '└ Enter opens'],
  isDetailOpen: false,
  isDetailFramed: true,
  scroll: 0,
  footer: 'q leave',
}

const drawn = (width: number, more: Partial<ListView<Row>> = {}) =>
  drawListView(canvasOf(width), { ...view, ...more }, { width, height: 7 })

test.each([
  [
    120,
    [
      `svc inbox · 2 waiting${' '.repeat(87)}operator ana`,
      '─'.repeat(120),
      '  TASK    WHAT                            EXPIRES              ┌ Choice needed',
      '  9c1e77  acme.refunds amount 1500 (1/2)  28m → deny           └ Enter opens',
      '▌ b7aa10  Which address is right?         —',
      '',
      'q leave',
    ],
  ],
  [
    80,
    [
      `svc inbox · 2 waiting${' '.repeat(47)}operator ana`,
      '─'.repeat(80),
      '  TASK    AGENT             WHAT                            EXPIRES',
      '  9c1e77  acme.refund-desk  acme.refunds amount 1500 (1/2)  28m → deny',
      '▌ b7aa10  acme.support      Which address is right?         —',
      '',
      'q leave',
    ],
  ],
  [
    60,
    [
      `svc inbox · 2 waiting${' '.repeat(27)}operator ana`,
      '─'.repeat(60),
      '  TASK    WHAT                            EXPIRES',
      '  9c1e77  acme.refunds amount 1500 (1/2)  28m → deny',
      '▌ b7aa10  Which address is right?         —',
      '',
      'q leave',
    ],
  ],
  [
    40,
    [
      'svc inbox · 2 waiting       operator ana',
      '─'.repeat(40),
      '  TASK    WHAT                EXPIRES',
      '  9c1e77  acme.refunds amou…  28m → deny',
      '▌ b7aa10  Which address is …  —',
      '',
      'q leave',
    ],
  ],
])('a list in %i columns leaves columns out and cuts no name', (width, lines) => {
  expect(drawn(width)).toEqual(lines)
})

test('an open detail takes the place of the list where there is no room for both', () => {
  expect(drawn(60, { isDetailOpen: true }).slice(2, 5)).toEqual(['┌ Choice needed', '└ Enter opens', ''])
  expect([detailSize({ width: 60, height: 20 }), detailSize({ width: 120, height: 20 })]).toEqual([
    { width: 60, height: 17 },
    { width: 57, height: 17 },
  ])
})

test('the list scrolls with the chosen row, and the detail by lines', () => {
  const rows = Array.from({ length: 9 }, (_, at) => ({ id: `${at}`, agent: 'a', what: 'w', expires: '' }))
  expect(drawn(60, { rows, chosen: 8 }).slice(2, 6)).toEqual([
    '  TASK  AGENT  WHAT  EXPIRES',
    '  6     a      w',
    '  7     a      w',
    '▌ 8     a      w',
  ])
  const detail = ['1', '2', '3', '4', '5', '6']
  expect(drawn(60, { detail, isDetailOpen: true, scroll: 9 }).slice(2, 6)).toEqual(['3', '4', '5', '6'])
})

const status: DevStatus = {
  url: 'http://127.0.0.1:4310',
  operator: 'operator ana',
  versions: ['acme.refund-desk@1.2.0-dev.2'],
  running: 1,
  waiting: [{ what: 'acme.refunds amount 1500', expiresAt: NOW + 28 * 60_000 }],
  wider: ['wider  acme.refund-desk  limit 100 → 250'],
  problem: 'policies/limit.yaml:14: a number is compared with a string',
  keys: ['[r]erun', '[a]nswer', '[l]int', '[h]elp', '[q]uit'],
}

test.each([
  [
    60,
    [
      '─'.repeat(60),
      ` WIDER  agents may do more (1 change) ${' '.repeat(22)}`,
      '  wider  acme.refund-desk  limit 100 → 250',
      'server 127.0.0.1:4310 · operator ana',
      'deployed acme.refund-desk@1.2.0-dev.2',
      '1 running · 1 waiting: acme.refunds amount 1500, 28m left',
      'problem policies/limit.yaml:14: a number is compared with a…',
      '[r]erun  [a]nswer  [l]int  [h]elp  [q]uit',
    ],
  ],
  [
    40,
    [
      '─'.repeat(40),
      ' WIDER  agents may do more (1 change)   ',
      '  wider  acme.refund-desk  limit 100 →',
      '  250',
      'server 127.0.0.1:4310 · operator ana',
      'deployed acme.refund-desk@1.2.0-dev.2',
      '1 running · 1 waiting: acme.refunds amo…',
      'problem policies/limit.yaml:14: a numbe…',
      '[r]erun [a]nswer [l]int [h]elp [q]uit',
    ],
  ],
])('the status area of dev in %i columns', (width, lines) => {
  expect(drawDevStatus(canvasOf(width), status, NOW)).toEqual(lines)
})

test.each([[80], [120]])('the status area of dev says all of it in %i columns', (width) => {
  const { problem: _, ...calm } = { ...status, wider: [], waiting: [], running: 0 }
  expect(drawDevStatus(canvasOf(width), calm, NOW)).toEqual([
    '─'.repeat(width),
    'server 127.0.0.1:4310 · operator ana',
    'deployed acme.refund-desk@1.2.0-dev.2',
    '0 running · nothing waits',
    '[r]erun  [a]nswer  [l]int  [h]elp  [q]uit',
  ])
  for (const line of drawDevStatus(canvasOf(width), status, NOW)) expect(widthOf(line)).toBeLessThanOrEqual(width)
})

test('the banner of wider authority is the only inverse text', () => {
  const lines = drawDevStatus(canvasOf(60, 3), status, NOW)
  expect(lines.filter((line) => line.includes('\x1b[7m'))).toEqual([lines[1]])
})

test('a full screen draws what changed, all of it after a resize or a question, and gives the terminal back', async () => {
  let written = ''
  const size = { width: 10, height: 3 }
  const sink = {
    isTTY: true,
    write: (text: string) => void (written += text),
    get width() {
      return size.width
    },
    get height() {
      return size.height
    },
  }
  const take = (): string => {
    const text = written
    written = ''
    return text
  }
  const screen = openFullScreen(sink)
  expect(take()).toBe('\x1b[?1049h\x1b[?25l')
  screen.draw(['a', 'b', 'c', 'beyond'])
  expect(take()).toBe('\x1b[2J\x1b[1;1Ha\x1b[K\x1b[2;1Hb\x1b[K\x1b[3;1Hc\x1b[K')
  screen.draw(['a', 'B', 'c'])
  expect(take()).toBe('\x1b[2;1HB\x1b[K')
  size.height = 2
  screen.draw(['a', 'B', 'c'])
  expect(take()).toBe('\x1b[2J\x1b[1;1Ha\x1b[K\x1b[2;1HB\x1b[K')
  await screen.withPrompt(1, async () => {
    screen.draw(['never'])
    expect(take()).toBe('\x1b[2;1H\x1b[J\x1b[?25h')
  })
  screen.draw(['a', 'B'])
  expect(take()).toBe('\x1b[?25l\x1b[2J\x1b[1;1Ha\x1b[K\x1b[2;1HB\x1b[K')
  screen.close()
  screen.draw(['never'])
  expect(take()).toBe('\x1b[?25h\x1b[?1049l')
})

/** WCAG contrast of two colours as `r;g;b`. */
function contrastOf(one: string, other: string): number {
  const luminance = (color: string): number => {
    const [r, g, b] = color.split(';').map((each) => {
      const part = Number(each) / 255
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light! + 0.05) / (dark! + 0.05)
}

test.each(['ok', 'waiting', 'bad', 'warn', 'name', 'tighter'] as const)(
  '%s can be read on light and on dark',
  (name) => {
    const [, color] = /38;2;([\d;]+)m/.exec(createTheme(3)[name]('x'))!
    expect(contrastOf(color!, '255;255;255')).toBeGreaterThan(3.6)
    expect(contrastOf(color!, '30;30;30')).toBeGreaterThan(3.6)
  },
)

test('a note that does not fit is cut, and left out where hardly any of it could be read', () => {
  const note = 'operator ana · 2 runs held since 10:41:00: the model cannot be reached'
  const heads = [80, 50].map((width) => drawn(width, { note })[0])
  expect(heads).toEqual([
    `svc inbox · 2 waiting  ${'operator ana · 2 runs held since 10:41:00: the model cannot'.slice(0, 56)}…`,
    'svc inbox · 2 waiting',
  ])
})

test('a narrow column comes back where a wider one that matters more had no room', () => {
  const shown = (width: number): string =>
    drawTable(
      canvasOf(width),
      [
        { title: 'RUN', cell: () => '3f2a91' },
        { title: 'STARTED', dropOrder: 2, cell: () => '1 min ago' },
        { title: 'TOOK', dropOrder: 3, cell: () => '8.1s' },
        { title: 'WAITS FOR', dropOrder: 1, cell: () => 'approval: acme.refunds of a customer' },
      ],
      [{}],
    )[0]!
  expect(shown(80)).toBe('RUN     STARTED    TOOK  WAITS FOR')
  expect(shown(46)).toBe('RUN     WAITS FOR')
  expect(shown(30)).toBe('RUN     STARTED    TOOK')
  expect(shown(20)).toBe('RUN     STARTED')
})
