/** How much of a conversation is given, where only its newest runs were read. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { Run } from '../../src/spec/run/run.ts'
import type { RunStep } from '../../src/spec/step.ts'
import { chooseEarlier, countUnread, messagesBefore } from '../../src/engine/prompt/earlier.ts'

const run = (id: number): Run => ({ id: `run-${id}`, parentRunId: null }) as unknown as Run
const NEWEST = run(1_000_000)

/** Root runs, each with a message and mostly an output of so many characters, and what their first steps say of those before. */
function conversation(lengths: readonly (readonly number[])[], room: number) {
  const runs = lengths.map((_, at) => run(at))
  const steps = new Map<string, readonly RunStep[]>()
  let ordinal = 0
  for (const [at, [asked = 0, answered]] of lengths.entries()) {
    const runId = runs[at]!.id
    const step = (type: string, content: JsonObject) =>
      ({ type, content, runId, ordinal: ++ordinal }) as unknown as RunStep
    const session = { said: [...steps.values()].flat(), undone: [] }
    const earlier = chooseEarlier(messagesBefore(runs[at]!, session), 0, room)
    steps.set(runId, [
      step('UserMessage', { text: 'x'.repeat(asked), ...(earlier && { earlier }) }),
      ...(answered === undefined ? [] : [step('Output', { output: 'y'.repeat(answered) })]),
    ])
  }
  return { runs: [...runs, NEWEST], steps }
}

test('the same is given, and counted as left out, as where everything was read', () => {
  const turn = fc.array(fc.nat(60), { minLength: 1, maxLength: 2 })
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 20 }), fc.nat(80), fc.nat(20), (lengths, room, read) => {
      const { runs, steps } = conversation(lengths, room)
      const whole = { said: [...steps.values()].flat(), undone: [] }
      const newest = new Set<string>(runs.slice(-1 - read).map(({ id }) => id))
      const part = { said: whole.said.filter(({ runId }) => newest.has(runId)), undone: [] }
      const expected = chooseEarlier(messagesBefore(NEWEST, whole), 0, room)!
      const before = messagesBefore(NEWEST, part)
      // What was read reaches as far back as what is given, as the bounds of reading ensure.
      fc.pre(before.length >= Number(expected['messages']) && before.length > 0)
      expect(chooseEarlier(before, countUnread(NEWEST, part), room)).toEqual(expected)
    }),
  )
})
