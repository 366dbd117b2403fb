import { expect, test, vi } from 'vitest'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import { createBell } from '../../src/engine/bell.ts'
import type { Delta, StoredEvent } from '../../src/spec/event.ts'

const session = 'session' as SessionId
const piece = (text: string): Delta => ({
  sessionId: session,
  runId: 'run' as RunId,
  ts: 0,
  kind: 'step',
  subject: 'engine.step.delta',
  data: { text },
})
const open = new AbortController().signal
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('pieces that arrive in one turn of the event loop wake a reader once', async () => {
  const bell = createBell()
  const ear = bell.listen(session)
  const woken = vi.fn()
  void ear.after(0, open).then(woken)
  bell.say(piece('one'))
  await Promise.resolve()
  bell.say(piece('two'))
  expect(woken).not.toHaveBeenCalled()
  await turn()
  expect(woken).toHaveBeenCalledOnce()
  expect(ear.deltas()).toEqual([piece('one'), piece('two')])
})

test('readers who stand at the same place read what is stored once, until it rings again', async () => {
  const bell = createBell()
  const [first, second] = [bell.listen(session), bell.listen(session)]
  const load = vi.fn(() => Promise.resolve<StoredEvent[]>([]))
  expect(first.read(3, load)).toBe(second.read(3, load))
  void second.read(4, load)
  expect(load).toHaveBeenCalledTimes(2)
  bell.ring(session)
  void first.read(4, load)
  expect(load).toHaveBeenCalledTimes(3)
  await turn()
  void first.read(4, load)
  expect(load).toHaveBeenCalledTimes(4)
})

test('a reader who listens to another session hears nothing', async () => {
  const bell = createBell()
  const other = bell.listen('other' as SessionId)
  bell.say(piece('one'))
  bell.ring(session)
  await turn()
  expect([other.count(), other.deltas()]).toEqual([0, []])
})
