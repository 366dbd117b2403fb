/** The card with example values: money, a recipient, a long text, and two people who must agree. */
import { presentKeyedTask } from '../../src/view/task/task-actions.ts'
import type { ShownTask } from '../../src/spec/task.ts'
import { drawApproval } from '../../src/terminal/approval.ts'
import { createTheme } from '../../src/terminal/theme.ts'

const NOW = Date.parse('2026-11-20T10:42:00Z')
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
      matched: true,
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

export const drawExampleCard = (width: number): readonly string[] =>
  drawApproval({ theme: createTheme(3), isTTY: true, width }, presentKeyedTask(transfer, NOW)).lines
