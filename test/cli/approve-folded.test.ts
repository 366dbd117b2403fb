/** `svc approve` of a call that cannot be undone and has no room on the screen. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { going, svc as runSvc, temporary, type Going, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], more: Partial<WorldOptions> = {}) => runSvc(argv, { cwd, ...more })
let dev: Going

beforeAll(async () => {
  await runSvc(['init', 'shop'], { cwd: parent })
  const tool = join(cwd, 'tools/refunds.yaml')
  writeFileSync(tool, readFileSync(tool, 'utf8').replace('non_idempotent_write', 'irreversible_action'))
  dev = going(['dev', '--no-watch', '--json', '--port', '0'], { cwd, env: { SVC_OPERATOR: 'ana' } })
  await dev.line(/"ready"/)
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount:=180', '--detach'])
  await svc(['runs', 'get', '@last', '--wait'])
})
afterAll(async () => {
  await dev.end()
  remove()
})

test('where the card has room, the verb is the decision; where it has none, the call is read to its end and asked about', async () => {
  const low = { tty: true, rows: 5 }
  const left = await svc(['approve', '@waiting'], { ...low, answers: [' ', 'q'] })
  expect(left).toMatchObject({ code: 2, stdout: '', asked: ['', ''] })
  expect(left.stderr).toContain('Nothing was approved: 8 of 10 lines seen.')
  const jumped = await svc(['approve', '@waiting'], { ...low, answers: ['G', 'q'] })
  expect(jumped).toMatchObject({ code: 2, stdout: '' })
  expect(jumped.stderr).toContain('Nothing was approved: 4 of 10 lines seen.')
  const declined = await svc(['approve', '@waiting'], { ...low, answers: [' ', ' ', 'q', false] })
  expect(declined.asked.at(-1)).toBe('Approve it with these arguments?')
  expect(declined.stderr).toContain('│ ┆   currency  "EUR"')
  expect(declined.stderr).toContain('10 of 10 lines seen\n')
  expect(declined).toMatchObject({ code: 2, stdout: '' })
  expect(declined.stderr).toContain('Nothing was approved.')
  const high = await svc(['approve', '@waiting'], { tty: true, rows: 40 })
  expect(high).toMatchObject({ code: 0, asked: [] })
  expect(high.stdout).toMatch(/^approved acme\.refunds amount 180 \(1 of 1\)/)
})

test('a card that is not opened to its end approves nothing, and says how much was seen', async () => {
  const answers = ['a', 'v', 'q', 'a', 'e', 'v', ' ', ' ', 'q', 'a']
  const run = await svc(['run', 'acme.refund-desk', 'order=A-7', 'amount:=180'], { tty: true, rows: 7, answers })
  const told = run.stderr.match(/Not approved[^\n]*|\d+ of \d+ lines seen; v [^\n]*/g)
  expect([...new Set(told)]).toEqual([
    'Not approved. Open the folded value first. Press v.',
    '6 of 10 lines seen; v goes on there.',
    'Not approved. Read the opened value to the end first. 6 of 10 lines seen; v goes on there.',
  ])
  expect(run).toMatchObject({ code: 0, asked: answers.map(() => '') })
  expect(run.stdout).toContain('"refunded":180')
})
