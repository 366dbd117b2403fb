/** Checks on facts: each passes and fails, and what is not known is undecided. */
import { expect, test } from 'vitest'
import type { EvalCheck } from '../../../src/cli/eval/eval-case.ts'
import { checkFacts } from '../../../src/cli/eval/fact-checks.ts'
import type { CallOfRun, RunFacts } from '../../../src/cli/eval/run-facts.ts'
import type { JsonObject, JsonValue } from '../../../src/base/json/json.ts'
import { firstCallFacts } from '../../../src/policy/condition/first-call.ts'

const call = (tool: string, args: JsonObject = {}, isApproved = false, isDecided = true): CallOfRun => ({
  runId: 'run',
  callId: `${tool} ${JSON.stringify(args)}`,
  tool,
  arguments: args,
  isApproved,
  ...(isDecided && {
    facts: firstCallFacts({
      args,
      tool: { id: tool, version: '1.0.0', wire_name: tool, kind: 'tool', labels: {} },
      agent: { id: 'acme.desk', version: '1.0.0', classifications: [], labels: {} },
      now: 0,
    }),
  }),
})

const run = (facts: Partial<RunFacts> = {}): RunFacts => ({
  status: 'Completed',
  output: { refunded: 40, currency: 'EUR' },
  calls: [],
  callable: ['acme.pay', 'acme.lookup'],
  tokens: 100,
  cost: { amounts: { USD: '0.02' }, unpriced: 0 },
  seconds: 1.5,
  ...facts,
})

/** Results of one check, without the one that every run has. */
const outcomeOf = async (check: EvalCheck, facts: Partial<RunFacts> = {}): Promise<unknown[]> =>
  (await checkFacts({ name: 'a', line: 1, input: {}, checks: [check], rubrics: new Map() }, run(facts)))
    .filter((each) => each.check !== 'run')
    .map(({ outcome, message }) => (message === undefined ? outcome : `${outcome}: ${message}`))

const PAY = 'acme.pay'
const above = (value: number): JsonObject => ({ field: 'args.amount', op: 'gt', value })

test.each<[EvalCheck, Partial<RunFacts>, string]>([
  [{ never_calls: 'acme.pya' }, {}, 'undecided: no agent here can call acme.pya. Did you mean "acme.pay"?'],
  [
    { never_calls_without_approval: 'acme.lokup' },
    {},
    'undecided: no agent here can call acme.lokup. Did you mean "acme.lookup"?',
  ],
  [{ calls: 'acme.pya', times: 0 }, {}, 'undecided: no agent here can call acme.pya. Did you mean "acme.pay"?'],
  [{ calls: 'acme.pya' }, {}, 'failed: 0 such calls of acme.pya, not one'],
  // Of an agent that has no such tool it is true.
  [{ never_calls: 'billing.invoices.send' }, {}, 'passed'],
  [{ never_calls: PAY }, {}, 'passed'],
  [{ status: 'Failed' }, {}, 'failed: the status is Completed, not Failed'],
  [{ output_contains: { refunded: 40 } }, {}, 'passed'],
  [{ output_contains: 'sorry' }, { output: 'I am sorry.' }, 'passed'],
  [{ output_contains: 'sorry' }, { output: 'No.' }, 'failed: the output is "No.", without "sorry"'],
  [{ output_schema: { required: ['refunded'] } }, {}, 'passed'],
  [{ output_schema: { required: ['paid'] } }, {}, 'failed: /paid is required'],
  [{ max_tokens: 100 }, {}, 'passed'],
  [{ max_tokens: 99 }, {}, 'failed: 100 tokens, more than 99'],
  [{ max_seconds: 1.5 }, {}, 'passed'],
  [{ max_seconds: 1 }, {}, 'failed: 1.5 s, more than 1 s'],
  [{ max_cost: '0.02 USD' }, {}, 'passed'],
  [{ max_cost: '0.0199 USD' }, {}, 'failed: USD 0.02, more than USD 0.0199'],
  [{ max_cost: '1 EUR' }, {}, 'undecided: the cost in EUR is not known: USD 0.02'],
  [
    { max_cost: '1 USD' },
    { cost: { amounts: { USD: '0.02' }, unpriced: 1 } },
    'undecided: the cost in USD is not known: USD 0.02 and an unknown cost',
  ],
  [{ calls: PAY }, { calls: [call(PAY)] }, 'passed'],
  [{ calls: PAY }, {}, 'failed: 0 such calls of acme.pay, not one'],
  [{ calls: PAY, times: 1 }, { calls: [call(PAY), call(PAY)] }, 'failed: 2 such calls of acme.pay, not 1'],
  [
    { calls: PAY, where: above(9), times: 1 },
    { calls: [call(PAY, { amount: 5 }), call(PAY, { amount: 10 })] },
    'passed',
  ],
  [
    { calls: PAY, where: above(9), times: 1 },
    { calls: [call(PAY, { amount: 10 }), call(PAY, { amount: 'x' })] },
    'undecided: whether `where` is true of acme.pay {"amount":"x"} is not known',
  ],
  [{ calls: PAY, where: above(9) }, { calls: [call(PAY, { amount: 10 }), call(PAY, {})] }, 'passed'],
  [{ never_calls: PAY }, { calls: [call('acme.look')] }, 'passed'],
  [{ never_calls: PAY }, { calls: [call(PAY, { amount: 1 }, true)] }, 'failed: it calls acme.pay {"amount":1}'],
  [{ never_calls: PAY, where: above(9) }, { calls: [call(PAY, { amount: 9 })] }, 'passed'],
  [
    { never_calls: PAY, where: above(9) },
    { calls: [call(PAY, { amount: 99 }, false, false)] },
    'undecided: whether `where` is true of acme.pay {"amount":99} is not known',
  ],
  [{ never_calls_without_approval: PAY }, { calls: [call(PAY, {}, true)] }, 'passed'],
  [
    { never_calls_without_approval: PAY },
    { calls: [call(PAY, { amount: 1 }, true), call(PAY, { amount: 2 })] },
    'failed: it calls acme.pay {"amount":2} without an approval',
  ],
  [{ only_calls: ['acme.look'] }, { calls: [call('acme.look')] }, 'passed'],
  [{ only_calls: ['acme.look'] }, { calls: [call(PAY)] }, 'failed: it calls acme.pay {}'],
  [{ only_calls: [] }, {}, 'passed'],
  [{ calls_in_order: ['acme.look', PAY] }, { calls: [call('acme.look'), call('acme.x'), call(PAY)] }, 'passed'],
  [
    { calls_in_order: ['acme.look', PAY] },
    { calls: [call(PAY), call('acme.look')] },
    'failed: acme.pay is not called in its place; the calls are acme.pay, acme.look',
  ],
])('%j', async (check, facts, outcome) => {
  expect(await outcomeOf(check, facts)).toEqual([outcome])
})

const checksOf = async (written: { expected?: JsonValue; checks?: EvalCheck[] }, facts: Partial<RunFacts> = {}) =>
  (await checkFacts({ name: 'a', line: 1, input: {}, checks: [], rubrics: new Map(), ...written }, run(facts))).map(
    ({ check, outcome, message }) => [check, outcome, ...(message === undefined ? [] : [message])],
  )

test('a run has to end, unless its status is checked', async () => {
  const broken = { status: 'Failed', error: 'The model said nothing.' }
  expect(await checksOf({}, broken)).toEqual([['run', 'failed', 'it ends Failed: The model said nothing.']])
  expect(await checksOf({ checks: [{ status: 'Failed' }] }, broken)).toEqual([['status', 'passed']])
})

test('an expected output is compared whole, whatever the order of its members', async () => {
  expect(await checksOf({ expected: { currency: 'EUR', refunded: 40 } })).toEqual([
    ['run', 'passed'],
    ['expected', 'passed'],
  ])
  expect(await checksOf({ expected: { refunded: 40 } })).toEqual([
    ['run', 'passed'],
    ['expected', 'failed', 'the output is {"refunded":40,"currency":"EUR"}, not {"refunded":40}'],
  ])
})

test('what a check says of a large value is short', async () => {
  const [[, , message]] = (await checksOf(
    { expected: 'a', checks: [{ status: 'Completed' }] },
    { output: 'x'.repeat(100_000) },
  )) as [[string, string, string]]
  expect(message.length).toBeLessThan(300)
})
