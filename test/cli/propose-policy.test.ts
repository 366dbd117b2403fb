import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { proposePolicy, saveProposal, type ProposedVerdict } from '../../src/cli/runs/card/propose-policy.ts'
import { loadWorkspace } from '../../src/documents/workspace/load.ts'
import type { ShownTask } from '../../src/spec/task.ts'
import { svc, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
const TEMPLATE = resolve(import.meta.dirname, '../../templates/refund')
const NOW = Date.parse('2026-11-20T10:42:00Z')
beforeAll(() => cpSync(TEMPLATE, join(parent, 'shop'), { recursive: true }))
afterAll(remove)

const policy = (id: string, source: string, limit: number) => ({
  id,
  version: '1.0.0',
  decision: 'require_approval',
  matched: true,
  reason: null,
  authority_ref: null,
  source,
  condition: `args.amount > ${limit} (1500)`,
})

const task: ShownTask = {
  kind: 'approval',
  status: 'pending',
  title: '',
  id: '019a9f3e-0000-7000-8000-0000009c1e77',
  runId: '019a9f3e-0000-7000-8000-0000003f2a91',
  agent: 'acme.refund-desk@1.0.0',
  tool: { name: 'refunds', ref: 'acme.refunds', version: '1.0.0', side_effect_class: 'non_idempotent_write' },
  arguments: { order: 'A-1042', amount: 1500, currency: 'EUR' },
  policies: [
    policy('acme.large-refunds', 'policies/large-refunds.yaml:15', 1000),
    policy('acme.refund-limit', 'policies/refund-limit.yaml:15', 100),
  ],
  approvalsReceived: 0,
  apiCompletable: true,
}

/** Applies a proposal to a copy of the template, and runs all policy tests there. */
async function applied(name: string, verdict: ProposedVerdict, given: ShownTask = task) {
  const cwd = join(parent, name)
  cpSync(TEMPLATE, cwd, { recursive: true })
  const proposal = proposePolicy(await loadWorkspace(cwd), given, verdict, NOW)
  const difference = await saveProposal(join(parent, `${name}-data`), given, proposal)
  execFileSync('patch', ['-p0', '-d', cwd, '-i', difference])
  const test = [...proposal.files.keys()].find((path) => path.endsWith('.policytest.yaml'))!
  return { cwd, proposal, ran: await svc(['policy', 'test', test], { cwd }) }
}

test('a permission raises each limit that stopped the call, and its test holds', async () => {
  const { cwd, proposal, ran } = await applied('allowed', 'allow')
  expect([...proposal.files.keys()]).toEqual([
    'policies/large-refunds.yaml',
    'policies/refund-limit.yaml',
    'policies/refunds-granted-9c1e77.policytest.yaml',
  ])
  expect(proposal.difference).toContain(
    '@@ -10,7 +10,7 @@\n   conditions:\n     field: args.amount\n     op: gt\n-    value: 1000\n+    value: 1500\n   decision:\n',
  )
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/1 passed/)])
  expect(readFileSync(join(cwd, 'policies/refund-limit.yaml'), 'utf8')).toContain('value: 1500\n')
})

test('a denial is a new policy that the agent binds, and its test holds', async () => {
  const { proposal, ran } = await applied('denied', 'deny')
  expect(proposal.files.get('policies/refunds-denied-9c1e77.yaml')).toBe(
    [
      'apiVersion: svc/v1',
      'kind: Policy',
      'metadata:',
      '  name: refunds-denied-9c1e77',
      '  namespace: acme',
      '  version: 1.0.0',
      'spec:',
      '  description: Denies calls like one that a person decided.',
      '  scope: tool:acme.refunds',
      '  conditions:',
      '    field: args.amount',
      '    op: gte',
      '    value: 1500',
      '  decision:',
      '    type: deny',
      '',
    ].join('\n'),
  )
  expect(proposal.files.get('agents/refund-desk.yaml')).toContain(
    '        - acme.large-refunds\n        - acme.refunds-denied-9c1e77\n',
  )
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringMatching(/1 passed/)])
})

test('without its policy the test of a denial fails', async () => {
  const cwd = join(parent, 'control')
  cpSync(TEMPLATE, cwd, { recursive: true })
  const { files } = proposePolicy(await loadWorkspace(cwd), task, 'deny', NOW)
  const [path, text] = [...files].find(([each]) => each.endsWith('.policytest.yaml'))!
  writeFileSync(join(cwd, path), text)
  expect((await svc(['policy', 'test', path], { cwd })).code).toBe(1)
})

test.each([
  ['another project', { ...task, agent: 'acme.other@1.0.0' }, 'The Agent acme.other is not among the documents'],
  ['no call', { ...task, tool: undefined }, 'The task holds no call with arguments.'],
])('refuses %s', async (_, given, message) => {
  const workspace = await loadWorkspace(join(parent, 'shop'))
  expect(() => proposePolicy(workspace, given as ShownTask, 'allow', NOW)).toThrow(message)
})
