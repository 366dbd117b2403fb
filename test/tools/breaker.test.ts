import { expect, test } from 'vitest'
import { withToolBreaker } from '../../src/tools/routes/breaker.ts'
import type { ToolOutcome, Toolbox } from '../../src/tools/tool.ts'
import { agentWith, invocationOf, toolNamed } from './invocation.ts'

const look = toolNamed('acme.look')
const pay = toolNamed('acme.pay')
const seen: ToolOutcome = { at: 'returned', result: 'seen', isError: false, durationMs: 1 }
const gone: ToolOutcome = { at: 'not_sent', code: 'unreachable', error: 'Nobody listens there.' }
const late: ToolOutcome = { at: 'unknown', code: 'timeout', error: 'No answer.' }
const refused = (seconds: number): ToolOutcome => ({
  at: 'not_sent',
  code: 'unreachable',
  error: `acme.look has failed 3 times in a row and is left alone for ${seconds} s.`,
})

/** Tools of which each call has the next outcome; three failures, and 30 s. */
function toolsWith(outcomes: ToolOutcome[]) {
  let now = 0
  let made = 0
  const tools: Toolbox = {
    route: () => ({
      route: 'mock',
      timeoutMs: 1000,
      invoke: () => {
        made++
        return Promise.resolve(outcomes.shift()!)
      },
    }),
    describe: () => Promise.resolve(undefined),
    findUnsetSecret: () => undefined,
    close: () => Promise.resolve(),
  }
  const clock = { now: () => 0, monotonic: () => now }
  const rested = withToolBreaker(tools, { failures: 3, pauseMs: 30_000 }, clock)
  return {
    call: (tool = look, signal = new AbortController().signal) =>
      rested.route(agentWith(), tool)!.invoke(invocationOf(tool, {}), signal),
    wind: (ms: number) => void (now += ms),
    made: () => made,
  }
}

test('a tool that failed three times in a row is left alone, then tried by one call', async () => {
  const { call, wind, made } = toolsWith([gone, late, gone, gone, seen, seen])
  for (const outcome of [gone, late, gone]) expect(await call()).toEqual(outcome)
  expect(await call()).toEqual(refused(30))
  wind(29_500)
  expect(await call()).toEqual(refused(1))
  wind(500)
  // The one that tries fails, so another pause begins.
  expect(await Promise.all([call(), call()])).toEqual([gone, refused(30)])
  wind(30_000)
  expect(await call()).toEqual(seen)
  expect(await call()).toEqual(seen)
  expect(made()).toBe(6)
})

test('another tool is called meanwhile', async () => {
  const { call } = toolsWith([gone, gone, gone, seen])
  for (let times = 0; times < 3; times++) await call()
  expect(await call()).toEqual(refused(30))
  expect(await call(pay)).toEqual(seen)
})

test.each<[string, ToolOutcome]>([
  ['an answer', seen],
  ['an error that the tool answers', { at: 'returned', result: 'no', isError: true, durationMs: 1 }],
])('%s between two failures begins the count again', async (_, outcome) => {
  const { call } = toolsWith([gone, gone, outcome, gone, gone, seen])
  for (let times = 0; times < 5; times++) await call()
  expect(await call()).toEqual(seen)
})

test.each<[string, ToolOutcome, boolean]>([
  ['was called off', late, true],
  ['was refused here', { at: 'not_sent', code: 'refused', error: 'Not so.' }, false],
])('a call that %s says nothing of its tool', async (_, outcome, aborted) => {
  const { call } = toolsWith([gone, gone, outcome, gone, seen])
  const signal = aborted ? AbortSignal.abort() : undefined
  for (const each of [undefined, undefined, signal, undefined]) await call(look, each)
  expect(await call()).toEqual(refused(30))
})
