/** What `bundle/lock-drift` says of a lock that `compile` wrote. */
import { describe, expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { bundleOf, changed, compileFiles, DESK, lockedBy, registryOf, type Files } from './make.ts'

const locked = lockedBy(DESK, await compileFiles(DESK))

const told = (files: Files): string[] =>
  lintWorkspace(loadFiles(files)).flatMap(({ rule, path, message }) =>
    rule === 'bundle/lock-drift' ? [`${path} ${message}`] : [],
  )
const without = (files: Files, path: string): Files =>
  Object.fromEntries(Object.entries(files).filter(([each]) => each !== path))

describe('a lock is checked against the content of its members', () => {
  test.each<[what: string, files: Files, clauses: readonly string[]]>([
    ['as it was compiled', locked, []],
    ['a Tool', changed(locked, 'tools/refunds.yaml', 'EUR, USD', 'EUR'), ['acme.refunds has changed since']],
    [
      'a schema that a Tool names',
      changed(locked, 'schemas/order.json', '"required"', '"minProperties": 1, "required"'),
      ['schemas/order.json has changed since', 'acme.orders.lookup has changed since'],
    ],
    ['a Policy of a binding', changed(locked, 'policies/small.yaml', '100', '200'), ['acme.small has changed since']],
    ['a Policy of a boundary', changed(locked, 'policies/limit.yaml', '30', '60'), ['acme.limit has changed since']],
    ['an agent', changed(locked, 'agents/clerk.yaml', 'seed: 7', 'seed: 8'), ['acme.clerk has changed since']],
    ['instructions', changed(locked, 'prompts/desk.md', 'refunds', 'money'), ['prompts/desk.md has changed since']],
    ['a script', changed(locked, 'models/clerk.yaml', 'Yes', 'No'), ['models/clerk.yaml has changed since']],
    [
      'a version',
      changed(locked, 'tools/refunds.yaml', 'version: 1.0.0', 'version: 1.1.0'),
      ['acme.refunds is locked in 1.0.0, but is 1.1.0'],
    ],
    ['a comment', changed(locked, 'policies/small.yaml', 'kind:', '# as agreed\nkind:'), []],
    [
      'a Tool that is not bound any more',
      changed(locked, 'agents/desk.yaml', '    - ref: acme.orders.lookup@^1.0\n', ''),
      ['acme.desk has changed since', 'acme.orders.lookup is no longer part of the bundle'],
    ],
    [
      'a file that was renamed',
      changed(
        without({ ...locked, 'prompts/chief.md': DESK['prompts/desk.md']! }, 'prompts/desk.md'),
        'agents/desk.yaml',
        'prompts/desk.md',
        'prompts/chief.md',
      ),
      [
        'acme.desk has changed since',
        'prompts/desk.md is locked from prompts/desk.md, which is gone',
        'prompts/chief.md is not in it',
      ],
    ],
    [
      'a lock without members',
      { ...DESK, 'svc.lock': '{"lockfile_version": 1, "members": [], "compiled": {}}' },
      [
        'acme.desk is not in it',
        'acme.clerk is not in it',
        'acme.orders.lookup is not in it',
        'acme.refunds is not in it',
        'acme.ceiling is not in it',
        'acme.small is not in it',
        'acme.limit is not in it',
        'prompts/desk.md is not in it',
        'schemas/input.json is not in it',
        'schemas/order.json is not in it',
      ],
    ],
  ])('%s', (_, files, clauses) => {
    expect(told(files)).toEqual(
      clauses.length === 0 ? [] : [`bundle.yaml svc.lock is not of these documents: ${clauses.join('; ')}.`],
    )
  })

  test.each(['', '[]', '<<<<<<< ours', '{"lockfile_version": 2, "members": []}', '{"lockfile_version": 1}'])(
    'what is no lock says so: %j',
    (text) => {
      expect(told({ ...DESK, 'svc.lock': text })).toEqual(['bundle.yaml svc.lock is not a lock file of version 1.'])
    },
  )

  test('below another directory than the one in which it was compiled', () => {
    const moved = Object.fromEntries(Object.entries(locked).map(([path, text]) => [`teams/acme/${path}`, text]))
    expect(told(moved)).toEqual([])
  })
})

describe('members of the registry', () => {
  const child = `apiVersion: svc/v1
kind: Bundle
metadata: { name: child, namespace: ops, version: 1.0.0 }
spec: { root: notifier.yaml }
---
apiVersion: svc/v1
kind: Tool
metadata: { name: mail, namespace: ops, version: 1.4.0 }
spec: { side_effect_class: read_only }
`
  const notifier = `apiVersion: svc/v1
kind: Agent
metadata: { name: notifier, namespace: ops, version: 1.4.2 }
spec:
  purpose: Tells.
  instructions: { text: Tell. }
  model: { provider: scripted, name: s }
  tools: [{ ref: ops.mail@^1 }]
`
  const desk = (agents: string, tools: string): Files => ({
    ...without(without(DESK, 'agents/clerk.yaml'), 'tools/lookup.yaml'),
    'agents/desk.yaml': DESK['agents/desk.yaml']!.replace('agents/clerk.yaml\n      as: ask_clerk', agents).replace(
      'acme.orders.lookup@^1.0',
      tools,
    ),
  })

  test('are those that the references choose', async () => {
    const published = registryOf(await bundleOf({ 'bundle.yaml': child, 'notifier.yaml': notifier }))
    const before = desk('ops.notifier@1.4.2', 'ops.mail@^1.2')
    const lock = lockedBy(before, await compileFiles(before, { published }))
    expect(told(lock)).toEqual([])
    expect(told({ ...lock, ...desk('ops.notifier@1.5.0', 'ops.mail@^1.5') })).toEqual([
      'bundle.yaml svc.lock is not of these documents: acme.desk has changed since; ops.mail is locked in 1.4.0, but ops.mail@^1.5 is bound; ops.notifier is locked in 1.4.2, but ops.notifier@1.5.0 is bound.',
    ])
    expect(told({ ...lock, ...desk('ops.other@1.0.0', 'ops.fax') })).toEqual([
      'bundle.yaml svc.lock is not of these documents: acme.desk has changed since; ops.fax is not in it; ops.other@1.0.0 is not in it.',
    ])
  })
})

describe('an agent that is compiled alone', () => {
  const files = {
    'clerk.yaml': DESK['agents/clerk.yaml']!,
    'tool.yaml': DESK['tools/refunds.yaml']!,
    'models/clerk.yaml': '- say: Yes.\n',
  }

  test('has its lock beside it', async () => {
    const lock = lockedBy(files, await compileFiles(files, { root: 'clerk.yaml' }))
    expect(told(lock)).toEqual([])
    expect(told(changed(lock, 'tool.yaml', 'EUR, USD', 'EUR'))).toEqual([
      'clerk.yaml svc.lock is not of these documents: acme.refunds has changed since.',
    ])
  })

  test('is not checked against the lock of another', async () => {
    const lock = lockedBy(files, await compileFiles(files, { root: 'clerk.yaml' }))
    const other = files['clerk.yaml'].replace('name: clerk', 'name: other')
    expect(told({ ...lock, 'other.yaml': other })).toEqual([])
  })
})
