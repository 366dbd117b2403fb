/** What commands print on narrow terminals: no line is longer than the terminal, which would break it within a word. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { widthOf } from '../../src/terminal/width.ts'
import { going, svc as runSvc, temporary, type Going } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const env = { XDG_CONFIG_HOME: join(parent, 'user') }
const AGENT = 'acme.refund-desk'
let server: Going

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  await runSvc(['publish', '--deploy'], { cwd, env })
  server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
  for (const amount of ['60', '180'])
    await runSvc(['run', AGENT, `order=A-${amount}`, `amount=${amount}`], { cwd, env })
  await runSvc(['triggers', 'create', AGENT, '--type', 'schedule', '--cron', '0 9 * * *', '--name', 'mornings'], {
    cwd,
  })
  await runSvc(['keys', 'create', '--agent', AGENT, '--trigger', 'mornings'], { cwd, env })
})
afterAll(async () => {
  await server.end()
  remove()
})

const LISTS: readonly (readonly string[])[] = [
  [],
  ['--help'],
  ['help', '--tree'],
  ...['views', 'continue', 'approvals', 'authoring', 'environment', 'exit-codes', 'files', 'formatting', 'offline'].map(
    (each) => ['help', each],
  ),
  ['init', '--list'],
  ['lint'],
  ['compile', '--matrix'],
  ['test'],
  ['policy', 'test'],
  ['policy', 'explain', '@last'],
  ['bundle', 'tree'],
  ['publish', '--plan'],
  ['versions', 'list'],
  ['versions', 'list', AGENT],
  ['agents', 'list'],
  ['agents', 'show', AGENT],
  ['agents', 'history', AGENT],
  ['agents', 'graph', AGENT],
  ['triggers', 'list'],
  ['keys', 'list'],
  ['workers', 'list'],
  ['runs', 'list'],
  ['runs', 'outcomes'],
  ['runs', 'get', '@last'],
  ['runs', 'steps', '@last'],
  ['runs', 'calls', '@last'],
  ['runs', 'conversation', '@last'],
  ['sessions', 'list', AGENT],
  ['files', 'list'],
  ['inbox', '--no-input'],
  ['effects', 'list'],
  ['costs'],
  ['secrets', 'list'],
  ['secrets', 'check'],
  ['config', 'list'],
  ['doctor'],
]

/** A command that is shown to be copied stays whole. */
const COPIED = /^ *(?:svc|curl|export) /

describe.each([80, 60])('in %d columns', (columns) => {
  test.each(LISTS.map((args) => ({ args })))('svc $args', async ({ args }) => {
    const { stdout, stderr } = await runSvc(args, { cwd, env, tty: true, columns })
    const lines = `${stdout}${stderr}`.replaceAll(cwd, '/shop').split('\n')
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.filter((line) => widthOf(line) > columns && !COPIED.test(line))).toEqual([])
  })
})
