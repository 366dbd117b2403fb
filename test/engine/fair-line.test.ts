/** Waiting calls are served in turn of triggers, callers and runs, and no trigger takes all that there is. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import { createFairLine, shareOfTrigger, type FairLine, type SlotOwner } from '../../src/engine/capacity/fair-line.ts'
import {
  createCompletionSlots,
  createSlots,
  DEFAULT_CONCURRENCY,
  type SlotRequest,
} from '../../src/engine/capacity/slots.ts'
import { cases } from '../cases.ts'

interface Waiting {
  readonly owner: SlotOwner
  readonly n: number
  readonly tool: number
}

/** The same, slowly: everybody has a number, and who waits longest since it was served is next. */
function createObviousLine(): FairLine<Waiting> {
  let number = 0
  const items: Waiting[] = []
  const turns = new Map<string, number>()
  const levels = ({ trigger, caller, run }: SlotOwner): string[] => [
    trigger,
    `${trigger} ${caller}`,
    `${trigger} ${caller} ${run}`,
  ]
  const waits = (name: string): boolean => items.some(({ owner }) => levels(owner).includes(name))
  const remove = (item: Waiting): void => void items.splice(items.indexOf(item), 1)
  const rank = ({ owner, n }: Waiting): number[] => [...levels(owner).map((name) => turns.get(name)!), n]
  return {
    join(owner, item) {
      for (const name of levels(owner)) if (!waits(name)) turns.set(name, ++number)
      items.push(item)
    },
    takeNext(fits) {
      const [next] = items.filter(fits).sort((a, b) => compare(rank(a), rank(b)))
      if (!next) return undefined
      for (const name of levels(next.owner)) turns.set(name, ++number)
      remove(next)
      return next
    },
    leave(_, item) {
      if (items.includes(item)) remove(item)
    },
  }
}

const compare = (a: readonly number[], b: readonly number[]): number =>
  a.map((each, at) => each - b[at]!).find((each) => each !== 0) ?? 0

const anyAct = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('join' as const),
      trigger: fc.nat(1),
      caller: fc.nat(1),
      run: fc.nat(1),
      tool: fc.nat(1),
    }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('take' as const), tool: fc.option(fc.nat(1)) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('leave' as const), which: fc.nat(20) }) },
)

/** @param blur what a line that knows less takes an owner for */
const serves = (blur: (owner: SlotOwner) => SlotOwner) =>
  fc.property(fc.array(anyAct, { maxLength: 60, size: 'max' }), (acts) => {
    const [fast, obvious] = [createFairLine<Waiting>(), createObviousLine()]
    const all: Waiting[] = []
    acts.forEach((each, n) => {
      if (each.act === 'take') {
        const fits = ({ tool }: Waiting): boolean => each.tool === null || tool === each.tool
        expect(fast.takeNext(fits)).toEqual(obvious.takeNext(fits))
      } else if (each.act === 'leave') {
        const item = all[each.which]
        if (item) fast.leave(blur(item.owner), item)
        if (item) obvious.leave(item.owner, item)
      } else {
        const owner = { trigger: `t${each.trigger}`, caller: `c${each.caller}`, run: `r${each.run}` as RunId }
        const item = { owner, n, tool: each.tool }
        all.push(item)
        fast.join(blur(owner), item)
        obvious.join(owner, item)
      }
    })
  })

test('serves as a slow and obvious line does, whoever joins, leaves and fits', () => {
  fc.assert(
    serves((owner) => owner),
    { numRuns: cases(1000) },
  )
})

test.each([
  ['triggers', (owner: SlotOwner) => ({ ...owner, trigger: 'one', caller: `${owner.trigger} ${owner.caller}` })],
  ['callers', (owner: SlotOwner) => ({ ...owner, caller: 'one', run: `${owner.caller} ${owner.run}` as RunId })],
  ['runs', (owner: SlotOwner) => ({ ...owner, run: 'one' as RunId })],
])('a line that does not tell %s apart is found out', (_, blur) => {
  expect(() => fc.assert(serves(blur), { numRuns: cases(1000) })).toThrow('Property failed')
})

const call = (trigger: string, run: number): SlotRequest => ({
  session: `${trigger} ${run}` as SessionId,
  run: `${trigger} ${run}` as RunId,
  key: `${trigger} ${run}`,
  trigger,
  caller: trigger,
  tool: 'pay',
  route: 'http',
})

test('240 runs of one trigger whose calls hang leave a slot to the only run of another', () => {
  const slots = createSlots(
    DEFAULT_CONCURRENCY,
    () => {},
    () => 0,
  )
  const taken = Array.from({ length: 240 }, (_, run) => slots.take(call('greedy', run))).filter(Boolean)
  expect(taken).toHaveLength(shareOfTrigger(DEFAULT_CONCURRENCY.tool))
  expect(slots.take(call('modest', 0))).toBe(true)
})

test('where one call runs at once, the only run of a trigger is next after 240 of another', () => {
  const admitted: string[] = []
  const slots = createSlots(
    { ...DEFAULT_CONCURRENCY, tool: 1 },
    (session) => void admitted.push(session),
    () => 0,
  )
  for (let run = 0; run < 240; run++) slots.take(call('greedy', run))
  slots.take(call('modest', 0))
  slots.keep('greedy 0' as SessionId, () => false)
  slots.keep('greedy 1' as SessionId, () => false)
  expect(admitted).toEqual(['greedy 1', 'modest 0'])
})

test('completions of a provider are in turn too, and one trigger leaves some of them to others', async () => {
  const enter = createCompletionSlots({ ...DEFAULT_CONCURRENCY, provider: 4 })
  const order: string[] = []
  const go = (trigger: string, run: number) =>
    enter('a', { trigger, caller: 'k', run: `${run}` as RunId }, new AbortController().signal).then((leave) => {
      order.push(`${trigger} ${run}`)
      return leave
    })
  const greedy = Array.from({ length: 20 }, (_, run) => go('greedy', run))
  const [leave] = await Promise.all(greedy.slice(0, 3))
  const modest = [go('modest', 0), go('modest', 1)]
  await modest[0]
  expect(order).toEqual(['greedy 0', 'greedy 1', 'greedy 2', 'modest 0'])
  leave!()
  await greedy[3]
  ;(await greedy[1]!)()
  await modest[1]
  expect(order.slice(4)).toEqual(['greedy 3', 'modest 1'])
})
