import { expect, test } from 'vitest'
import { arrangeRunTree } from '../../src/cli/runs/run-tree.ts'
import type { RunView } from '../../src/operations/runs.ts'

const run = (runId: string, minute: number, parentRunId: string | null = null): RunView => ({
  runId,
  sessionId: 's',
  agent: `acme.${runId}`,
  versionLabel: '1.0.0',
  status: 'Completed',
  depth: 0,
  parentRunId,
  startedAt: `2026-11-20T10:0${minute}:00.000Z`,
  finishedAt: null,
  totalTokensUsed: 0,
  trigger: 'api',
})

const shown = (runs: readonly RunView[]) =>
  arrangeRunTree(runs).map(({ run: { runId }, indent }) => `${'  '.repeat(indent)}${runId}`)

test('runs of sub-agents are below the run that started them, oldest first; the others keep their order', () => {
  const newestFirst = [
    run('second-check', 5, 'desk'),
    run('other', 4),
    run('lookup', 3, 'check'),
    run('check', 2, 'desk'),
    run('desk', 1),
  ]
  expect(shown(newestFirst)).toEqual(['other', 'desk', '  check', '    lookup', '  second-check'])
})

test('a run whose parent is on another page stays where it is', () => {
  expect(shown([run('new', 3), run('check', 2, 'gone'), run('old', 1)])).toEqual(['new', 'check', 'old'])
})
