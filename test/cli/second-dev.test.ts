/** `svc dev` beside others: another `dev` of the project, another program on its port. */
import { stripVTControlCharacters } from 'node:util'
import { createServer, type AddressInfo } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommandLine } from '../../src/cli/main.ts'
import { createWorld, going, svc, temporary, type Going } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const DEV = ['dev', '--port', '0', '--no-watch']
beforeAll(async () => void (await svc(['init', 'shop', '--full'], { cwd: parent })))
afterAll(remove)

describe('a second dev of a project ends with a sentence when the first ends', () => {
  const said = new RegExp(
    `^The server of process ${process.pid} has ended, and so has this one\\. svc dev starts the next\\.$`,
    'm',
  )
  let first: Going
  beforeEach(async () => {
    first = going([...DEV, '--json'], { cwd })
    await first.line(/"ready"/)
  })

  test.each([
    ['that prints JSON', ['--json']],
    ['in a pipe', []],
  ])('one %s', async (_, options) => {
    const world = createWorld({ cwd })
    const second = runCommandLine(['dev', ...options], world.io)
    await world.line(/ready/)
    await first.end()
    expect(await second).toBe(0)
    expect(world.stderr()).toMatch(said)
    expect(world.stderr()).not.toContain('error')
  })

  test('one on a terminal, which gives it back', async () => {
    const { io, ...world } = createWorld({ cwd, tty: true })
    const pressed = vi.fn<(key: string) => void>()
    let given = 0
    const key = (_question: string, _keys: readonly string[], signal?: AbortSignal): Promise<string> =>
      new Promise((done, failed) => {
        pressed.mockImplementation(done)
        signal?.addEventListener('abort', () => {
          given++
          failed(signal.reason as Error)
        })
      })
    const second = runCommandLine(['dev'], { ...io, prompts: { ...io.prompts, key } })
    await vi.waitFor(() => expect(world.stderr()).toContain('[r]erun  [a]nswer'), 50_000)
    await first.end()
    // A key whose request finds nobody.
    pressed('r')
    expect(await second).toBe(0)
    expect(given).toBe(1)
    // Without the sequences that erase the status area.
    expect(stripVTControlCharacters(world.stderr()).replaceAll('\r', '')).toMatch(said)
  })
})

test('dev says on which port it listens where its own is taken', async () => {
  const other = createServer()
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  const { port } = other.address() as AddressInfo
  const config = join(cwd, 'svc.config.yaml')
  const before = readFileSync(config, 'utf8')
  writeFileSync(config, `${before}dev: { port: ${port} }\n`)
  const dev = going(['dev', '--no-watch', '--json'], { cwd })
  const { url } = JSON.parse(await dev.line(/"ready"/)) as { url: string }
  await dev.end()
  writeFileSync(config, before)
  other.close()
  expect(dev.world.stderr()).toContain(
    `Port ${port} or the next is taken by another program; this server listens on ${new URL(url).port}.\n`,
  )
})
