import { expect, test } from 'vitest'
import { lockDrift, readLock, writeLock, type LockFile } from '../../src/compile/state/lock-file.ts'
import { authorityMatrix } from '../../src/authority/matrix.ts'
import { summarizeCompile } from '../../src/compile/summary.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { agentOf, bundleOf, changed, compileFiles, DESK, type Files } from './make.ts'

async function lockOf(files: Files): Promise<LockFile> {
  const { lock } = await compileFiles(files)
  if (!lock) throw new Error('does not compile')
  return lock
}

test('the lock names every member, whatever its kind', async () => {
  const { members, compiled, bundle } = await lockOf(DESK)
  expect(bundle).toEqual({ id: 'acme.refund', version: '1.0.0' })
  expect(members.map(({ kind, id, version, origin }) => `${kind} ${id} ${version ?? '-'} ${origin}`)).toEqual([
    'agent acme.clerk 1.0.0 local',
    'agent acme.desk 1.2.0 local',
    'instructions prompts/desk.md - local',
    'policy acme.ceiling 1.0.0 local',
    'policy acme.limit 2.0.0 local',
    'policy acme.small 1.0.0 local',
    'schema schemas/input.json - local',
    'schema schemas/order.json - local',
    'script models/clerk.yaml - local',
    'tool acme.orders.lookup 1.0.3 local',
    'tool acme.refunds 1.0.0 local',
  ])
  expect(Object.keys(compiled).sort()).toEqual(['acme.clerk', 'acme.desk'])
})

test('writing the lock again gives the same bytes, and it can be read', async () => {
  const lock = await lockOf(DESK)
  expect(writeLock(await lockOf(Object.fromEntries(Object.entries(DESK).toReversed())))).toBe(writeLock(lock))
  expect(readLock(writeLock(lock))).toEqual(lock)
})

test.each(['', '[]', '{"lockfile_version": 2, "members": [], "compiled": {}}'])('%j is no lock', (text) => {
  expect(() => readLock(text)).toThrow('svc.lock is not a lock file of version 1.')
})

test('a lock that cannot be read is a finding', async () => {
  const { bundle, findings } = await compileFiles({ ...DESK, 'svc.lock': '<<<<<<< ours' })
  expect([bundle, findings.map(({ rule, path, message, fix }) => ({ rule, path, message, fix }))]).toEqual([
    undefined,
    [
      {
        rule: 'bundle/lock-drift',
        path: 'bundle.yaml',
        message: 'svc.lock is not a lock file of version 1.',
        fix: { description: 'Delete it, then svc compile.', edits: [] },
      },
    ],
  ])
})

test('drift names each member', async () => {
  const before = await lockOf(DESK)
  expect(lockDrift(before, await lockOf(DESK))).toEqual([])
  const raised = changed(
    changed(DESK, 'policies/limit.yaml', 'version: 2.0.0', 'version: 2.1.0'),
    'prompts/desk.md',
    'You',
    'Do you',
  )
  const after = await lockOf(
    changed(raised, 'agents/desk.yaml', 'acme.orders.lookup@^1.0', 'acme.refunds\n      as: again'),
  )
  expect(lockDrift(before, after)).toEqual([
    'tool acme.orders.lookup@1.0.3 is no longer part of the bundle.',
    'agent acme.desk@1.2.0 has changed.',
    'instructions prompts/desk.md has changed.',
    'policy acme.limit@2.1.0 was 2.0.0.',
  ])
})

test('the matrix lists every call with the policy that decides it', async () => {
  expect(
    authorityMatrix(agentOf(await bundleOf(DESK), 'acme.desk')).map(({ tool, decision, by, when }) => [
      tool,
      decision,
      by,
      when,
    ]),
  ).toEqual([
    ['acme.orders.lookup', 'deny', 'acme.ceiling@1.0.0', 'args.amount > 5000 (if present)'],
    ['acme.orders.lookup', 'allow', 'default', 'otherwise'],
    ['acme.refunds', 'deny', 'acme.ceiling@1.0.0', 'args.amount > 5000 (if present)'],
    ['acme.refunds', 'require_approval', 'acme.limit@2.0.0', 'args.amount > 100'],
    ['acme.refunds', 'allow', 'acme.small@1.0.0', 'args.amount <= 100'],
    ['acme.refunds', 'require_approval', 'default', 'otherwise'],
    ['acme.clerk', 'allow', 'default', 'delegation'],
  ])
})

test.each([
  ['ask', ['require_approval', 'refund:{args.order} within 90d again']],
  ['refuse', ['deny', 'refund:{args.order} within 90d again']],
  ['return', ['allow', 'refund:{args.order} within 90d again: the earlier result']],
])('the matrix says what becomes of a second call with an effect key: %s', async (repeat, [decision, when]) => {
  const agent = agentOf(await bundleOf(DESK), 'acme.desk')
  const labels = { 'svc/effect-key': 'refund:{args.order}', 'svc/effect-window': '90d', 'svc/effect-repeat': repeat! }
  const tools = agent.tools.map((tool) => (tool.wire === 'refunds' ? { ...tool, labels } : tool))
  const rows = authorityMatrix({ ...agent, tools }).filter(({ by }) => by === 'effect key')
  expect(rows).toEqual([{ tool: 'acme.refunds', wire: 'refunds', kind: 'tool', decision, by: 'effect key', when }])
})

test('the summary names the policies of a boundary and their places', async () => {
  const { boundaries, policies, unmatched, bindings } = summarizeCompile(await bundleOf(DESK), loadFiles(DESK))
  expect([boundaries, unmatched]).toEqual([
    [{ agent: 'acme.desk', boundary: 'refund-limit', policies: ['acme.limit'] }],
    [],
  ])
  expect(
    policies
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, scope, decision, source }) => [id, scope, decision, source?.path, source?.range?.start.line]),
  ).toEqual([
    ['acme.ceiling', null, 'deny', 'policies/ceiling.yaml', 6],
    ['acme.limit', 'tool:acme.refunds', 'require_approval', 'policies/limit.yaml', 8],
    ['acme.small', 'tool:acme.refunds', 'allow', 'policies/small.yaml', 7],
  ])
  expect(
    bindings
      .find(({ agent, tool }) => agent === 'acme.desk' && tool === 'acme.refunds')
      ?.chain.toSorted((a, b) => (a.policy < b.policy ? -1 : 1)),
  ).toEqual([
    { policy: 'acme.ceiling@1.0.0', why: 'default' },
    { policy: 'acme.limit@2.0.0', why: 'boundary refund-limit' },
    { policy: 'acme.small@1.0.0', why: 'binding' },
  ])
})
