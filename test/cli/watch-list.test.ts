import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runCommandLine } from '../../src/cli/main.ts'
import { createWorld, svc, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
beforeAll(async () => void (await svc(['init', 'shop', '--full'], { cwd: parent })))
afterAll(remove)

test.each([
  ['inbox', ['inbox', '--watch'], 'Nothing waits for anybody.'],
  ['runs list', ['runs', 'list', '--watch'], 'No runs.'],
])('q leaves %s --watch', async (_, argv, shown) => {
  const { io, ...world } = createWorld({ cwd, tty: true })
  let press: (key: string) => void = () => undefined
  const key = (_question: string, keys: readonly string[] | 'any', signal?: AbortSignal): Promise<string> => {
    expect(keys).toContain('q')
    return new Promise((done, failed) => {
      press = done
      signal?.addEventListener('abort', () => failed(signal.reason as Error))
    })
  }
  const ended = runCommandLine(argv, { ...io, prompts: { ...io.prompts, key } })
  await vi.waitFor(() => expect(world.stdout()).toContain(shown), 50_000)
  press('q')
  expect(await ended).toBe(0)
})
