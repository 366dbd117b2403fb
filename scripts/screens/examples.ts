/** The screens with example values. */
import { presentTask } from '../../src/spec/task-card.ts'
import type { ShownTask } from '../../src/spec/task.ts'
import { drawApproval, fitApproval } from '../../src/terminal/approval.ts'
import { drawDevStatus } from '../../src/terminal/dev-status.ts'
import { detailSize, drawListView } from '../../src/terminal/list-view.ts'
import { truncateText } from '../../src/terminal/text.ts'
import type { Canvas } from '../../src/terminal/screen.ts'
import { createTheme } from '../../src/terminal/theme.ts'
import type { TableColumn } from '../../src/terminal/table.ts'

export const WIDTHS = [40, 60, 80, 120] as const

const NOW = Date.parse('2026-11-20T10:42:00Z')
const theme = createTheme(3)

const transfer: ShownTask = {
  kind: 'approval',
  status: 'pending',
  title: 'Approve acme.refunds',
  id: '019a9f3e-0000-7000-8000-0000009c1e77',
  runId: '019a9f3e-0000-7000-8000-0000003f2a91',
  agent: 'acme.refund-desk@1.2.0',
  tool: { name: 'refunds', ref: 'acme.refunds', version: '1.2.0', side_effect_class: 'irreversible_action' },
  arguments: {
    order: 'A-1042',
    iban: 'DE89 3704 0044 0532 0130 00',
    amount: 1500,
    currency: 'EUR',
    letter: 'Dear Ada,\nyour parcel arrived broken, and we are sorry.\nHere is your money.',
  },
  policies: [
    {
      id: 'acme.large-refunds',
      version: '1.0.0',
      decision: 'require_approval',
      matched: 'true',
      reason: 'Refunds above EUR 1,000 need two people',
      authority_ref: null,
      source: 'policies/large-refunds.yaml:15',
      condition: 'args.amount > 1000 (1500)',
    },
  ],
  approvalsRequired: 2,
  approvalsReceived: 1,
  onModify: 'revalidate',
  onTimeout: 'deny',
  expiresAt: NOW + 28 * 60_000,
  apiCompletable: false,
  people: {
    startedBy: 'key "web-shop"',
    versionLabel: '1.2.0',
    role: 'treasurer',
    you: 'operator cleo',
    standing: 'may_answer',
    votes: [{ by: 'operator ana', approved: true }],
    candidates: ['operator bo'],
  },
}

const card = presentTask(transfer, NOW)
const canvasOf = (width: number): Canvas => ({ theme, isTTY: true, width })

interface InboxRow {
  readonly task: string
  readonly kind: string
  readonly agent: string
  readonly what: string
  readonly waiting: string
  readonly expires: string
}

const rows: readonly InboxRow[] = [
  ['9c1e77', 'approval', 'acme.refund-desk', 'acme.refunds amount 1500 (1/2)', '2m', '28m → deny'],
  ['b7aa10', 'multi_option', 'acme.support', 'Which address is right? (3)', '4m', '—'],
  ['51aa02', 'anomaly_review (operator)', 'acme.bookings', 'acme.calendar.book', '1h', '3h → deny'],
].map(([task, kind, agent, what, waiting, expires]) => ({
  task: task!,
  kind: kind!,
  agent: agent!,
  what: what!,
  waiting: waiting!,
  expires: expires!,
}))

const columns: readonly TableColumn<InboxRow>[] = [
  { title: 'TASK', cell: ({ task }) => task },
  { title: 'KIND', dropOrder: 3, cell: ({ kind }) => kind },
  { title: 'AGENT', dropOrder: 2, cell: ({ agent }) => agent },
  { title: 'WHAT', isFlexible: true, cell: ({ what }) => what },
  { title: 'WAITING', dropOrder: 4, cell: ({ waiting }) => waiting },
  { title: 'EXPIRES', dropOrder: 1, style: (colors) => colors.waiting, cell: ({ expires }) => expires },
]

function drawInbox(width: number, isDetailOpen: boolean): string[] {
  const size = { width, height: width < 60 ? 32 : 24 }
  const pane = detailSize(size)
  const footer = isDetailOpen ? undefined : theme.dim('Enter opens')
  const detail = fitApproval(canvasOf(pane.width), card, pane.height, footer === undefined ? {} : { footer }).lines
  return drawListView(
    canvasOf(width),
    {
      title: 'svc inbox · 3 waiting',
      note: 'operator cleo',
      columns,
      rows,
      chosen: 0,
      emptyMessage: '',
      detail,
      isDetailOpen,
      isDetailFramed: true,
      scroll: 0,
      footer: `${width < 47 ? '' : 'j k move  '}Enter open  / filter  ? keys  q leave`,
    },
    size,
  )
}

const WIDER = ['wider  acme.refund-desk  acme.refunds: args.amount > 100 → 250  (policies/refund-limit.yaml:15)']

function drawDev(width: number): string[] {
  const canvas = canvasOf(width)
  return [
    `${theme.dim('10:41:02')}  run 3f2a91  ${theme.waiting('WaitingForHITL')}`,
    '10:41:55  changed policies/refund-limit.yaml'.slice(0, width),
    ...WIDER.map((line) => theme.strong(truncateText(`          ${line}`, width))),
    ...drawDevStatus(
      canvas,
      {
        url: 'http://127.0.0.1:4310',
        operator: 'operator ana',
        versions: ['acme.refund-desk@1.2.0-dev.2'],
        running: 1,
        waiting: [{ what: 'acme.refunds amount 1500', expiresAt: NOW + 28 * 60_000 }],
        wider: WIDER,
        problem: 'policies/refund-limit.yaml:14: a number is compared with a string',
        keys: ['[r]erun', '[a]nswer', '[l]int', '[h]elp', '[q]uit'],
      },
      NOW,
    ),
  ]
}

export const exampleScreens: Readonly<Record<string, (width: number) => readonly string[]>> = {
  card: (width) => drawApproval(canvasOf(width), card).lines,
  inbox: (width) => drawInbox(width, false),
  'inbox-open': (width) => drawInbox(width, true),
  dev: drawDev,
}
