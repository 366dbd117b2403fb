import { expect, test } from 'vitest'
import { firstCallFacts } from '../../src/policy/condition/first-call.ts'
import { CALL_FIELDS } from '../../src/policy/condition/fields.ts'

const CALL = {
  args: { amount: 7 },
  tool: { id: 'acme.refunds', version: '1.0.0', wire_name: 'refunds', kind: 'tool', labels: {} },
  agent: { id: 'acme.desk', version: '2.0.0', classifications: [], labels: {} },
  now: 5,
} as const

test('the facts of a first call are those of a plain run', () => {
  const facts = firstCallFacts(CALL)
  expect(facts).toEqual({
    ...CALL,
    run: {
      depth: 0,
      is_subagent: false,
      iteration: 1,
      elapsed_seconds: 0,
      tokens_used: 0,
      trigger_type: 'api',
      taint: false,
    },
    session: { run_count: 1, tokens_used: 0, elapsed_seconds: 0 },
    principal: { type: 'api_key', id: '' },
    svc: { dispatch: { trigger: 'none' }, limit: 'none' },
    history: expect.any(Function) as unknown,
    source: expect.any(Function) as unknown,
  })
  expect([
    facts.history('run', 'this_tool', 'attempts'),
    facts.history('session', 'all_tools', 'denied'),
    facts.history('window', 'same_args', { total: 'args.amount' }, 60_000),
    facts.history('run', 'this_tool', { total: 'args.currency' }),
  ]).toEqual([1, 0, 7, undefined])
})

test.each(
  Object.entries(CALL_FIELDS).flatMap(([root, fields]) =>
    Object.entries(fields).flatMap(([name, field]) =>
      field.isDerived || root === 'time' || name === 'dispatch' ? [] : [[`${root}.${name}`, field] as const],
    ),
  ),
)('a context gives %s, and null takes it away', (path, { read }) => {
  expect(read(firstCallFacts(CALL, { [path]: 'given' }))).toBe('given')
  expect(read(firstCallFacts(CALL, { [path]: null }))).toBeUndefined()
})

test('a context gives the time', () => {
  expect(firstCallFacts(CALL, { 'time.now': 3 }).now).toBe(3)
})

test('a context gives a member of a field, and measures of the history by window or for all windows', () => {
  const facts = firstCallFacts(CALL, {
    'svc.dispatch.trigger': 'timeout',
    'history.window.this_tool.attempts (10m)': 4,
    'history.window.this_tool.attempts': 3,
    'history.run.this_tool.attempts': null,
  })
  expect(facts.svc).toEqual({ dispatch: { trigger: 'timeout' }, limit: 'none' })
  expect([
    facts.history('window', 'this_tool', 'attempts', 600_000),
    facts.history('window', 'this_tool', 'attempts', 60_000),
    facts.history('run', 'this_tool', 'attempts'),
  ]).toEqual([4, 3, undefined])
})
