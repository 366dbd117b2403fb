import { expect, test } from 'vitest'
import { digestOf, digestOfJson } from '../../src/base/digest.ts'
import { lockDrift } from '../../src/documents/rules/lock-drift.ts'
import { lint } from '../../src/documents/lint.ts'
import { loadFiles } from '../../src/documents/load.ts'

const AGENT = { apiVersion: 'svc/v1', kind: 'Agent', metadata: { name: 'desk', namespace: 'acme', version: '1.0.0' } }

test.each([
  ['as they were', 'You help.\n', AGENT, []],
  ['the prompt', 'You pay.\n', AGENT, ['svc.lock is not of these documents: desk.md has changed since.']],
  [
    'the agent under the same version',
    'You help.\n',
    { ...AGENT, output: { format: 'json' } },
    ['svc.lock is not of these documents: acme.desk has changed since.'],
  ],
])('a locked file that has changed is named: %s', (_, prompt, agent, messages) => {
  const members = [
    {
      kind: 'agent',
      id: 'acme.desk',
      version: '1.0.0',
      origin: 'local',
      path: 'a.json',
      integrity: digestOfJson(AGENT),
    },
    { kind: 'instructions', id: 'desk.md', origin: 'local', path: 'desk.md', integrity: digestOf('You help.\n') },
  ]
  const workspace = loadFiles({
    'bundle.yaml':
      'apiVersion: svc/v1\nkind: Bundle\nmetadata: {name: b, namespace: acme, version: "1.0.0"}\nspec: {root: a.json}\n',
    'a.json': JSON.stringify(agent),
    'desk.md': prompt,
    'svc.lock': JSON.stringify({ lockfile_version: 1, members }),
  })
  expect(
    lint(workspace)
      .filter(({ rule }) => rule === lockDrift.name)
      .map(({ message }) => message),
  ).toEqual(messages)
})
