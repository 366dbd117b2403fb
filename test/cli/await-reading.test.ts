/** Keys on a card, in given time: what is typed arrives at moments of a schedule, which the wait of the card moves through. */
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { awaitReading } from '../../src/cli/runs/card/await-reading.ts'
import type { OpenDecision } from '../../src/cli/runs/card/open-decision.ts'
import { createTheme } from '../../src/terminal/theme.ts'

const time = vi.hoisted(() => ({ now: 0 }))
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => Promise.resolve(void (time.now += ms)),
}))

interface Press {
  readonly at: number
  readonly key: string
}

/** A card that is opened at `openedAt` by somebody whose keys all are known in advance. */
function createCard(presses: readonly Press[], openedAt: number) {
  time.now = openedAt
  let taken = presses.filter(({ at }) => at < openedAt).length
  const arrived = () => presses.filter(({ at }) => at <= time.now)
  const drawn: number[] = []
  const prompts = {
    dropTyped: () => {
      const typed = arrived()
        .slice(taken)
        .map(({ key }) => key)
      taken += typed.length
      return Promise.resolve(typed)
    },
    lastTyped: (keys: readonly string[]) =>
      arrived()
        .filter(({ key }) => keys.includes(key))
        .at(-1)?.at,
  }
  const decision = {
    session: { call: { io: { prompts, clock: { monotonic: () => time.now } } } },
    surface: { canvas: { theme: createTheme(0), isTTY: true, width: 80 } },
    signal: new AbortController().signal,
    panel: undefined,
    shown: undefined,
  } as unknown as OpenDecision
  const open = (content = 'A') => awaitReading(decision, content, ['a', 'r'], ['w'], () => void drawn.push(time.now))
  return { decision, open, drawn }
}

test('the keys of a card are offered once it has been shown for 400 ms', async () => {
  const { open, decision } = createCard([], 5000)
  await open()
  expect(time.now).toBe(5400)
  expect(decision.panel).toBe(undefined)
})

test('a card that stays the same is not new, and one whose content has changed is', async () => {
  const { open } = createCard([], 5000)
  await open()
  await open()
  expect(time.now).toBe(5400)
  await open('A, edited by somebody else')
  expect(time.now).toBe(5800)
})

test('the second key of a double press is not taken, and the card says so', async () => {
  const { open, decision } = createCard(
    [5000, 5120].map((at) => ({ at, key: 'a' })),
    5050,
  )
  await open()
  expect(decision.panel!.lines).toEqual(['Too early: "a" decided nothing. Read it, then press again.'])
  expect(time.now).toBe(6120)
})

test('a key that only shows something is taken at once, unless it was typed before the card was shown', async () => {
  const before = createCard([{ at: 4990, key: 'w' }], 5000)
  expect(await before.open()).toBe(undefined)
  expect(time.now).toBe(5400)
  const meanwhile = createCard([{ at: 5250, key: 'w' }], 5000)
  expect(await meanwhile.open()).toBe('w')
  expect(time.now).toBe(5300)
})

const presses = fc
  .array(fc.record({ gap: fc.integer({ min: 1, max: 1500 }), key: fc.constantFrom('a', 'r', 'x') }), { maxLength: 12 })
  .map((steps) => {
    let at = 0
    return steps.map(({ gap, key }): Press => ({ at: (at += gap), key }))
  })

test('keys are offered at the first moment that no press forbids', async () => {
  await fc.assert(
    fc.asyncProperty(presses, fc.integer({ min: 0, max: 4000 }), async (given, openedAt) => {
      const { open } = createCard(given, openedAt)
      await open()
      const deciding = given.filter(({ key }) => key !== 'x')
      let moment = openedAt + 400
      while (deciding.some(({ at }) => at <= moment && moment < at + 1000)) moment++
      expect(time.now).toBe(moment)
    }),
  )
})

test('a held key is never taken, however slowly it begins to repeat', async () => {
  for (const delay of [250, 500, 660, 999]) {
    const repeats = Array.from({ length: 200 }, (_, at) => ({ at: 5000 + delay + 30 * at, key: 'a' }))
    const { open } = createCard([{ at: 5000, key: 'a' }, ...repeats], 5050)
    await open()
    expect(time.now).toBe(repeats.at(-1)!.at + 1000)
  }
})
