import { expect, test, vi } from 'vitest'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import { createNotifier } from '../../src/engine/drive/notifier.ts'
import type { TextDelta, StoredEvent } from '../../src/spec/event.ts'

const session = 'session' as SessionId
const piece = (text: string): TextDelta => ({
  sessionId: session,
  runId: 'run' as RunId,
  ts: 0,
  kind: 'step',
  subject: 'engine.step.delta',
  data: { text },
})
const open = new AbortController().signal
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a piece wakes a reader at once, and what follows in the same turn of the event loop comes together', async () => {
  const bell = createNotifier()
  const ear = bell.listen(session)
  const heard: (readonly TextDelta[])[] = []
  const reading = (async () => {
    while (heard.flat().length < 3) {
      await ear.after(0, open)
      heard.push(ear.deltas(1))
    }
  })()
  bell.say(piece('one'))
  for (const text of ['two', 'three']) {
    for (let at = 0; at < 10; at++) await Promise.resolve()
    bell.say(piece(text))
  }
  expect(heard).toEqual([[piece('one')]])
  await reading
  expect(heard).toEqual([[piece('one')], [piece('two'), piece('three')]])
})

test('a reader who comes late in a turn is told at its end', async () => {
  const bell = createNotifier()
  const [first, late] = [bell.listen(session), bell.listen(session)]
  const told = first.after(0, open)
  bell.ring(session, 1)
  await told
  const woken = vi.fn()
  void late.after(0, open).then(woken)
  await Promise.resolve()
  expect(woken).not.toHaveBeenCalled()
  await turn()
  expect(woken).toHaveBeenCalledOnce()
})

test('readers who stand at the same place read what is stored once, until it rings again', async () => {
  const bell = createNotifier()
  const [first, second] = [bell.listen(session), bell.listen(session)]
  const load = vi.fn(() => Promise.resolve<StoredEvent[]>([]))
  expect(first.read(3, load)).toBe(second.read(3, load))
  void second.read(4, load)
  expect(load).toHaveBeenCalledTimes(2)
  bell.ring(session, 1)
  void first.read(4, load)
  expect(load).toHaveBeenCalledTimes(3)
  await turn()
  void first.read(4, load)
  expect(load).toHaveBeenCalledTimes(4)
})

test('a reader who listens to another session hears nothing', async () => {
  const bell = createNotifier()
  const other = bell.listen('other' as SessionId)
  bell.say(piece('one'))
  bell.ring(session, 1)
  await turn()
  expect([other.count(), other.deltas(1)]).toEqual([0, []])
})
