import { expect, test } from 'vitest'
import { nextOf } from '../../src/cli/runs/task-channel.ts'
import { explainPolicies } from '../../src/cli/runs/why.ts'
import type { InboxItem } from '../../src/operations/tasks.ts'
import { canvasOf, PIPE } from '../terminal/recording.ts'

const policies = [
  {
    id: 'acme.refund-limit',
    version: '1.0.0-dev.12',
    decision: 'require_approval',
    matched: true,
    condition: 'args.amount > 100 (180)',
    source: 'policies/limit.yaml:15',
  },
  { id: 'acme.vip', version: '1.0.0', decision: 'allow', matched: false, condition: 'args.vip == true (false)' },
]

test.each([
  [
    120,
    [
      '  ● acme.refund-limit@1.0.0-dev.12  require_approval   args.amount > 100 (180)  true   policies/limit.yaml:15',
      '  · acme.vip@1.0.0                  allow              args.vip == true (false)  false',
    ],
  ],
  [
    72,
    [
      '  ● acme.refund-limit@1.0.0-dev.12  require_approval',
      '      args.amount > 100 (180)  true',
      '      policies/limit.yaml:15',
      '  · acme.vip@1.0.0                  allow',
      '      args.vip == true (false)  false',
    ],
  ],
  [
    PIPE,
    [
      '  ● acme.refund-limit@1.0.0-dev.12  require_approval   args.amount > 100 (180)  true   policies/limit.yaml:15',
      '  · acme.vip@1.0.0                  allow              args.vip == true (false)  false',
    ],
  ],
])('the policies of a call stand in columns, and below each other where %i columns are too few', (width, lines) => {
  expect(explainPolicies(canvasOf(width), policies)).toEqual(lines)
})

test.each([
  [true, 'run 3f2a91 continues'],
  [false, 'run 3f2a91 continues when a server runs: svc dev or svc serve'],
])('an answer says when the run goes on; served: %j', (served, said) => {
  const item = { runId: '019a9f3e-0000-7000-8000-0000003f2a91' } as InboxItem
  expect(nextOf(item, { again: false, served })).toBe(said)
})
