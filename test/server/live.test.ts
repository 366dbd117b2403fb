/** GET /live: when a hint leaves, by a clock wound by hand. Source: docs/design/console.md#routes */
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { SessionId } from '../../src/base/ids.ts'
import { openFixture } from './fixtures.ts'

afterEach(() => void vi.useRealTimers())

/** What a reader of the stream has got since it last looked. */
async function openLive() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const { services, clock, operatorRaw } = openFixture()
  const reader = (await operatorRaw('GET /live')).body!.pipeThrough(new TextDecoderStream()).getReader()
  let got = ''
  const reading = (async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) got += part.value
  })()
  const wait = async (ms: number): Promise<void> => {
    clock.wind(ms)
    await vi.advanceTimersByTimeAsync(ms)
  }
  const read = async (): Promise<readonly string[]> => {
    await new Promise(setImmediate)
    const lines = got.split('\n').filter((line) => line !== '')
    got = ''
    return lines
  }
  expect(await read()).toEqual(['retry: 1000', 'data: {"sessions":[],"workspace":true}'])
  const end = async (): Promise<void> => {
    await reader.cancel()
    await reading
  }
  return {
    tell: (session?: string) => services.changes.tell(session as SessionId | undefined),
    wait,
    read,
    end,
    services,
  }
}

test('the first change after quiet leaves at once', async () => {
  const { tell, wait, read, end } = await openLive()
  await wait(1000)
  tell('s1')
  await wait(0)
  expect(await read()).toEqual(['data: {"sessions":["s1"],"workspace":false}'])
  await end()
})

test('the changes that follow it within 40 ms share one hint', async () => {
  const { tell, wait, read, end } = await openLive()
  await wait(1000)
  tell('s1')
  await wait(0)
  tell('s1')
  await wait(10)
  tell('s2')
  tell()
  await wait(29)
  expect(await read()).toEqual(['data: {"sessions":["s1"],"workspace":false}'])
  await wait(1)
  expect(await read()).toEqual(['data: {"sessions":["s1","s2"],"workspace":true}'])
  await wait(1000)
  expect(await read()).toEqual([])
  await end()
})

test('a change after those 40 ms leaves at once again', async () => {
  const { tell, wait, read, end } = await openLive()
  await wait(40)
  tell('s1')
  await wait(0)
  expect(await read()).toHaveLength(1)
  await wait(40)
  tell('s2')
  await wait(0)
  expect(await read()).toEqual(['data: {"sessions":["s2"],"workspace":false}'])
  await end()
})

test('changes of more than 100 sessions are one hint that names none', async () => {
  const { tell, wait, read, end } = await openLive()
  await wait(40)
  for (let n = 0; n <= 100; n++) tell(`s${n}`)
  await wait(0)
  expect(await read()).toEqual(['data: {"sessions":"any","workspace":false}'])
  await end()
})

test('a reader that leaves listens no longer', async () => {
  const { services, end } = await openLive()
  expect(services.readers.owners()).toHaveLength(1)
  await end()
  expect(services.readers.owners()).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

describe('a reader that does not read', () => {
  async function openUnread() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const { services, clock, operatorRaw } = openFixture()
    const reader = (await operatorRaw('GET /live')).body!.getReader()
    const wait = async (ms: number): Promise<void> => {
      clock.wind(ms)
      await vi.advanceTimersByTimeAsync(ms)
    }
    await wait(1000)
    return { services, reader, wait }
  }

  test('costs no timer while its hint waits, and gets one hint for all that it missed', async () => {
    const { services, reader, wait } = await openUnread()
    const decoder = new TextDecoder()
    for (const id of ['s1', 's2', 's3']) {
      services.changes.tell(id as SessionId)
      await wait(50)
    }
    // That of the heartbeat.
    expect(vi.getTimerCount()).toBe(1)
    const got: string[] = []
    for (let at = 0; at < 2; at++) got.push(decoder.decode((await reader.read()).value))
    await wait(50)
    got.push(decoder.decode((await reader.read()).value))
    expect(got).toEqual([
      'retry: 1000\n\n',
      'data: {"sessions":[],"workspace":true}\n\n',
      'data: {"sessions":["s1","s2","s3"],"workspace":false}\n\n',
    ])
    await reader.cancel()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is left after half a minute', async () => {
    const { services, reader, wait } = await openUnread()
    services.changes.tell('s1' as SessionId)
    for (let at = 0; at < 4; at++) await wait(15_000)
    expect(services.readers.owners()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
    await expect(reader.read()).rejects.toThrow('The reader does not keep up.')
  })
})
