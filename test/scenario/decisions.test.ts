/** Written decisions, and the clock that only moves when it is wound. */
import { describe, expect, test } from 'vitest'
import { answerOf, createScriptedAnswers, type WaitingTask, type DecisionRule } from '../../src/scenario/decisions.ts'
import { createVirtualTime } from '../../src/scenario/virtual-time.ts'

const approval = (id: string, amount: number): WaitingTask => ({
  id,
  kind: 'approval',
  tool: { name: 'refunds', ref: 'acme.refunds', version: '1.0.0', side_effect_class: 'irreversible_action' },
  arguments: { amount },
})
const reply = (id: string): WaitingTask => ({ id, kind: 'reply' })

describe('a rulebook', () => {
  const answers = (rules: readonly DecisionRule[], ...asked: readonly WaitingTask[]): (DecisionRule | undefined)[] => {
    const book = createScriptedAnswers(rules)
    return asked.map((each) => {
      const rule = book.choose(each)
      if (rule) book.recordUse(rule, each)
      return rule
    })
  }
  const small: DecisionRule = {
    tool: 'acme.refunds',
    when: { field: 'args.amount', op: 'lte', value: 200 },
    approve: true,
  }
  const any: DecisionRule = { task: 'approval', reject: 'too much' }

  test('answers with the first rule that fits', () => {
    expect(answers([small, any], approval('1', 300), approval('2', 100))).toEqual([any, small])
  })

  test('prefers one that has answered nothing, and uses one again where none is left', () => {
    const [ana, ben]: DecisionRule[] = [
      { approve: true, as: 'ana' },
      { approve: true, as: 'ben' },
    ]
    expect(answers([ana!, ben!], approval('1', 1), approval('1', 1), approval('1', 1))).toEqual([ana, ben, undefined])
    expect(answers([ana!], approval('1', 1), approval('2', 1))).toEqual([ana, ana])
  })

  test('says each reply once, in order', () => {
    const [first, second]: DecisionRule[] = [
      { task: 'reply', text: 'one' },
      { task: 'reply', text: 'two' },
    ]
    expect(answers([first!, second!], reply('a'), reply('b'), reply('c'))).toEqual([first, second, undefined])
  })

  test('takes what it cannot know for no fit', () => {
    const tainted: DecisionRule = {
      when: { field: 'history.run.this_tool.executed', op: 'gt', value: 1 },
      approve: true,
    }
    expect(answers([tainted], approval('1', 1))).toEqual([undefined])
  })
})

describe.each<[string, DecisionRule, Partial<WaitingTask>, object]>([
  ['an approval', { approve: true }, {}, { userTaskId: '1', approved: true, metadata: { 'svc/acknowledged': true } }],
  [
    'a rejection with its reason',
    { reject: 'no' },
    {},
    { userTaskId: '1', approved: false, metadata: { 'svc/comment': 'no' } },
  ],
  ['one word', { decide: 'reject' }, {}, { userTaskId: '1', approved: false }],
  [
    'an edit approves',
    { edit: { a: 1 } },
    {},
    { userTaskId: '1', approved: true, metadata: { 'svc/arguments': { a: 1 }, 'svc/acknowledged': true } },
  ],
  [
    'an option by its label',
    { option: 'Blue' },
    { kind: 'multi_option', options: [{ id: 'b', label: 'Blue' }] },
    { userTaskId: '1', selectedOptionId: 'b' },
  ],
  ['a number', { number: 3 }, { kind: 'number' }, { userTaskId: '1', numberValue: 3 }],
  ['a reply', { text: 'hello' }, { kind: 'reply' }, { text: 'hello' }],
  [
    'what happened',
    { option: 'happened', text: 'done' },
    { kind: 'anomaly_review', options: [{ id: 'happened', label: 'It happened' }] },
    { userTaskId: '1', selectedOptionId: 'happened', metadata: { 'svc/result': 'done' } },
  ],
])('%s', (_, rule, asked, message) => {
  test('is sent as the message that says it', () => {
    expect(answerOf(rule, { ...approval('1', 1), ...asked })).toEqual(message)
  })
})

describe('virtual time', () => {
  test('does not advance by itself, wakes sleepers when advanced, and drops cancelled ones', async () => {
    const time = createVirtualTime(1000)
    const stop = new AbortController()
    const woken = time.wait(500, new AbortController().signal)
    const calledOff = time.wait(Infinity, stop.signal)
    expect(time.asleep).toEqual({ count: 2, until: 1500 })
    time.advance(1500)
    await woken
    expect([time.clock.now(), time.clock.monotonic(), time.asleep]).toEqual([1500, 500, { count: 1, until: undefined }])
    stop.abort(new Error('over'))
    await expect(calledOff).rejects.toThrow('over')
  })

  test('rings the alarms of a queue, each once, also one that sets itself again', () => {
    const time = createVirtualTime(0)
    let rung = 0
    const again = (): void => {
      rung++
      time.timers.set(again, 60_000)
    }
    time.timers.set(again, 60_000)
    time.advance(60_000)
    expect(rung).toBe(1)
    time.advance(120_000)
    expect(rung).toBe(2)
  })
})
