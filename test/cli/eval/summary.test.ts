/** Sums, gates, and cases that are played at once. */
import { expect, test } from 'vitest'
import { inParallel, type CaseResult, type EvaluatedCase } from '../../../src/cli/eval/evaluate.ts'
import { exitOfEval, summarize, type EvalGate } from '../../../src/cli/eval/summary.ts'

const result = (outcome: CaseResult['outcome']): CaseResult => ({ outcome, checks: [], ms: 0 })
const evaluated = (now: CaseResult['outcome'], before?: CaseResult['outcome'], flips = 0): EvaluatedCase => ({
  case: { name: 'a', line: 1, input: {}, checks: [], rubrics: new Map() },
  now: result(now),
  ...(before && { before: result(before) }),
  flips: Array.from({ length: flips }, () => ({
    runId: 'r',
    toolCallId: 'c',
    tool: 'acme.pay',
    was: 'allow',
    now: 'deny',
    by: 'acme.limit@1.0.0',
  })),
  decisions: 2,
  assumed: [],
})
const many = (count: number, each: EvaluatedCase): EvaluatedCase[] => Array.from({ length: count }, () => each)

test('undecided cases lower the rate, and are no change for the worse where they were undecided before', () => {
  const cases = [
    evaluated('passed', 'failed'),
    evaluated('undecided', 'passed', 1),
    evaluated('undecided', 'undecided'),
    evaluated('failed', 'passed'),
  ]
  const { now, before, changed, worse, decisions, flips } = summarize(cases, { now: 'workspace', before: 'HEAD' })
  expect(now).toMatchObject({ name: 'workspace', passed: 1, failed: 1, undecided: 2, interval: { share: 0.25 } })
  expect(before).toMatchObject({ name: 'HEAD', passed: 2, failed: 1, undecided: 1, interval: { share: 0.5 } })
  expect(changed).toEqual([cases[0], cases[1], cases[3]])
  expect(worse).toEqual([cases[1], cases[3]])
  expect([decisions, flips]).toEqual([8, 1])
})

test('intervals without a common point are apart', () => {
  const names = { now: 'workspace', before: 'HEAD' }
  expect(summarize(many(20, evaluated('failed', 'passed')), names).isApart).toBe(true)
  expect(summarize(many(2, evaluated('failed', 'passed')), names).isApart).toBe(false)
})

test.each<[readonly EvaluatedCase[], readonly EvalGate[], number, number]>([
  [many(7, evaluated('passed')), ['failed'], 100, 0],
  [[...many(7, evaluated('passed')), ...many(93, evaluated('failed'))], ['failed'], 7, 0],
  [[...many(7, evaluated('passed')), ...many(93, evaluated('failed'))], ['failed'], 7.1, 1],
  [[evaluated('undecided')], ['failed'], 100, 1],
  [[evaluated('failed', 'failed')], ['worse'], 100, 0],
  [[evaluated('failed', 'passed')], ['worse'], 100, 1],
  [[evaluated('passed', 'passed', 1)], ['decisions'], 100, 1],
  [[evaluated('passed', 'passed', 1)], ['failed', 'worse'], 100, 0],
  [[evaluated('failed', 'passed', 1)], ['nothing'], 100, 0],
])('gates %#: a broken line ends with 2, a gate with 1', (cases, gates, atLeast, code) => {
  const summary = summarize(cases, { now: 'workspace', before: 'HEAD' })
  expect(exitOfEval(summary, [], { gates, atLeast })).toBe(code)
  expect(exitOfEval(summary, [{ line: 1, message: 'no' }], { gates, atLeast })).toBe(code === 1 ? 1 : 2)
})

test('results come in the order of the items, of which only some are at work', async () => {
  const ends: (() => void)[] = []
  let [working, most] = [0, 0]
  const results = inParallel([...Array(10).keys()], 3, async (item) => {
    most = Math.max(most, ++working)
    await new Promise<void>((done) => ends.push(done))
    working--
    return item
  })
  const found: number[] = []
  const all = (async () => {
    for await (const each of results) found.push(each)
  })()
  // The newest first.
  while (found.length < 10) {
    ends.pop()?.()
    await new Promise(setImmediate)
  }
  await all
  expect([found, most]).toEqual([[...Array(10).keys()], 3])
})

test('a failure ends the work', async () => {
  const results = inParallel([1, 2, 3], 2, (item) =>
    item === 2 ? Promise.reject(new Error('two')) : Promise.resolve(item),
  )
  await expect(
    (async () => {
      for await (const _ of results);
    })(),
  ).rejects.toThrow('two')
})
