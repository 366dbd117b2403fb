import { describe, expect, test } from 'vitest'
import { createOperator } from '../../src/client/operator.ts'
import { readOption } from '../../src/client/task-option.ts'
import { resolveAgent, runIdOf, splitVersion, taskOf } from '../../src/cli/project/reference.ts'

const RUNS = [
  {
    runId: '01a1fc20-0000-7000-8000-0000003f2a91',
    agent: 'acme.refund-desk',
    status: 'WaitingForHITL',
    parentRunId: null,
  },
  { runId: '01a1fc20-0000-7000-8000-0000006c01de', agent: 'acme.fraud-check', status: 'Completed', parentRunId: 'x' },
  { runId: '01a1fc20-0000-7000-8000-000000aaaaaa', agent: 'acme.refund-desk', status: 'Completed', parentRunId: null },
  { runId: '01a1fc20-0000-7000-8000-111111aaaaaa', agent: 'acme.refund-desk', status: 'Completed', parentRunId: null },
]
const TASKS = [
  {
    userTaskId: '01a1fc20-0000-7000-8000-0000009c1e77',
    kind: 'approval',
    agent: 'acme.refund-desk',
    approvals: { have: 1, need: 2 },
  },
]

/** The operator's routes as far as references ask for them. */
const operator = createOperator(async (request) => {
  const { pathname, searchParams } = new URL(request.url)
  const ending = searchParams.get('ending')
  const list =
    pathname === '/runs' ? RUNS : pathname === '/tasks' ? TASKS : [{ agentId: 'a', name: 'acme.refund-desk' }]
  const items = list.filter((each) => {
    const id = 'runId' in each ? each.runId : 'userTaskId' in each ? each.userTaskId : ''
    return (
      (ending === null || id.endsWith(ending)) &&
      (searchParams.get('waiting') === null || ('status' in each && each.status.startsWith('WaitingFor')))
    )
  })
  return Response.json({ items, total: items.length })
})

describe('a run is named by', () => {
  test.each([
    ['its id', '01A1FC20-0000-7000-8000-0000003F2A91', RUNS[0]!.runId],
    ['a unique ending', '3f2a91', RUNS[0]!.runId],
    ['@last, which is never a sub-agent run', '@last', RUNS[0]!.runId],
    ['@last-1, counted without sub-agent runs', '@last-1', RUNS[2]!.runId],
    ['@waiting', '@waiting', RUNS[0]!.runId],
  ])('%s', async (_, text, id) => {
    expect(await runIdOf(text, operator)).toBe(id)
  })
})

describe('what names no run, or several', () => {
  test.each([
    ['bbbbbb', 'not_found', 'No such run bbbbbb.'],
    ['@last-9', 'not_found', 'No such run @last-9.'],
    ['aaaaaa', 'ambiguous_reference', '"aaaaaa" could be 2 runs.'],
    ['3f2', 'usage', '"3f2" names no run.'],
    ['the last one', 'usage', '"the last one" names no run.'],
  ])('%s', async (text, code, message) => {
    await expect(runIdOf(text, operator)).rejects.toMatchObject({ code, message })
  })

  test('with a key alone only a full id is a name', async () => {
    await expect(runIdOf('3f2a91', undefined)).rejects.toMatchObject({ code: 'usage' })
    expect(await runIdOf(RUNS[0]!.runId, undefined)).toBe(RUNS[0]!.runId)
  })
})

test('of many candidates a few are shown, each by an ending that is its own, and the command that lists them', async () => {
  const runs = Array.from({ length: 8 }, (_, at) => ({
    runId: `01a1fc20-0000-7000-8000-0000${at}bcccccc`,
    agent: 'acme.refund-desk',
    status: 'WaitingForHITL',
    parentRunId: null,
  }))
  const many = createOperator(() => Promise.resolve(Response.json({ items: runs, total: runs.length })))
  const lines = ['0', '1', '2', '3', '4'].map((at) => `${at}bcccccc  acme.refund-desk, WaitingForHITL`)
  await expect(runIdOf('@waiting', many)).rejects.toMatchObject({
    message: '"@waiting" could be 8 runs.',
    fix: 'Name one by its id; svc runs list shows them.',
    extras: { details: [...lines, 'and 3 more'].map((message) => ({ path: '', message })) },
  })
})

test('@waiting means a run in the status that a command takes, where only one is', async () => {
  const runs = ['WaitingForHITL', 'WaitingForResponse', 'WaitingForHITL'].map((status, at) => ({
    ...RUNS[0]!,
    runId: `01a1fc20-0000-7000-8000-00000000000${at}`,
    status,
  }))
  const several = createOperator(() => Promise.resolve(Response.json({ items: runs, total: runs.length })))
  expect(await runIdOf('@waiting', several, 'WaitingForResponse')).toBe(runs[1]!.runId)
  await expect(runIdOf('@waiting', several)).rejects.toMatchObject({ message: '"@waiting" could be 3 runs.' })
  await expect(runIdOf('@waiting', several, 'Held')).rejects.toMatchObject({ message: '"@waiting" could be 3 runs.' })
})

test('a task is named by an ending or @waiting', async () => {
  const task = { id: TASKS[0]!.userTaskId, kind: 'approval', agent: 'acme.refund-desk', approvalsReceived: 1 }
  expect(await taskOf('9c1e77', operator)).toMatchObject(task)
  expect(await taskOf('@waiting', operator)).toMatchObject(task)
})

test('for an unknown agent the nearest name is suggested', async () => {
  await expect(resolveAgent('acme.refund-dsk', operator)).rejects.toMatchObject({
    code: 'not_found',
    fix: 'Did you mean acme.refund-desk?',
  })
})

test.each([
  ['acme.refund-desk', { name: 'acme.refund-desk' }],
  ['acme.refund-desk@1.2.0', { name: 'acme.refund-desk', version: '1.2.0' }],
])('%s', (text, parts) => {
  expect(splitVersion(text)).toEqual(parts)
})

describe('an option is named by id, label or position', () => {
  const options = [
    { id: 'addr_1', label: 'Old road 9' },
    { id: 'addr_2', label: 'Main street 4' },
    { id: '1', label: 'none of these' },
  ]
  test.each([
    ['addr_2', 'addr_2'],
    ['main street 4', 'addr_2'],
    ['2', 'addr_2'],
    // An id wins over a position.
    ['1', '1'],
  ])('%s', (typed, id) => {
    expect(readOption(options, typed).id).toBe(id)
  })

  test('another word lists them', () => {
    expect(() => readOption(options, 'home')).toThrow(
      'There is no option "home"; options: 1 addr_1 "Old road 9", 2 addr_2 "Main street 4", 3 1 "none of these".',
    )
  })
})
