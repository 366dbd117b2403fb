/** `svc approve`: what is shown and asked at a terminal, and what a script names. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { going, svc as runSvc, temporary, type Going, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], more: Partial<WorldOptions> = {}) => runSvc(argv, { cwd, ...more })
let dev: Going

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
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

test('at a terminal the card is shown to its end and asked about, whatever room there is', async () => {
  const low = { tty: true, rows: 5 }
  const left = await svc(['approve', '@waiting'], { ...low, answers: [' ', 'q'] })
  expect(left).toMatchObject({ code: 2, stdout: '', asked: ['', ''] })
  expect(left.stderr).toContain('Nothing was approved: 8 of 16 lines seen.')
  const jumped = await svc(['approve', '@waiting'], { ...low, answers: ['G', 'q'] })
  expect(jumped).toMatchObject({ code: 2, stdout: '' })
  expect(jumped.stderr).toContain('Nothing was approved: 4 of 16 lines seen.')
  const declined = await svc(['approve', '@waiting'], { ...low, answers: [' ', ' ', ' ', 'q', false] })
  expect(declined.asked.at(-1)).toBe('This cannot be undone. Approve it with these arguments?')
  expect(declined.stderr).toContain('│ ┆   currency  "EUR"')
  expect(declined.stderr).toContain('16 of 16 lines seen\n')
  expect(declined).toMatchObject({ code: 2, stdout: '' })
  expect(declined.stderr).toContain('Nothing was approved.')
  const edited = ['--edit', '{"order":"A-1042","amount":170,"currency":"EUR"}']
  const other = await svc(['approve', '@waiting', ...edited], { tty: true, rows: 40, answers: [false] })
  expect(other.stderr).toMatch(/amount +170/)
  expect(other).toMatchObject({ code: 2, stdout: '' })
  const high = await svc(['approve', '@waiting'], { tty: true, rows: 40, answers: [true] })
  expect(high).toMatchObject({ code: 0, asked: ['This cannot be undone. Approve it with these arguments?'] })
  expect(high.stderr).toMatch(/Approval needed · acme\.refunds@1\.0\.0.* · irreversible_action/)
  expect(high.stdout).toMatch(/^approved Refund 180 EUR for A-1042 \(1 of 1\)/)
})

test('a script names what was seen of a call that repeats an earlier one', async () => {
  const { stdout: run } = await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount:=180', '--detach'])
  await svc(['runs', 'get', run.trim(), '--wait'])
  const bare = await svc(['approve', '@waiting'])
  const { items } = JSON.parse((await svc(['inbox', '--json'])).stdout) as {
    items: { userTaskId: string; argsDigest: string }[]
  }
  const { userTaskId: id, argsDigest } = items[0]!
  expect(bare).toEqual({
    code: 6,
    stdout: '',
    stderr:
      `error[digest_required]: Task ${id.slice(-6)} is approved with the digest of the arguments that were seen: its call repeats an earlier one.\n` +
      `  fix:  svc inbox --json --jq '.items[] | select(.userTaskId == "${id}") | {args, argsDigest}'   then   svc approve ${id.slice(-6)} --args-digest SHA\n`,
    asked: [],
  })
  for (const empty of ['', 'sha256:', argsDigest.slice(0, 10)])
    expect(await svc(['approve', '@waiting', '--args-digest', empty])).toMatchObject({ code: 2, stdout: '' })
  const done = await svc(['approve', '@waiting', '--args-digest', argsDigest], { tty: true })
  expect(done).toMatchObject({ code: 0, asked: [] })
})

test('a card that is not opened to its end approves nothing, and says how much was seen', async () => {
  const answers = ['a', 'v', 'q', 'a', 'e', 'v', ' ', ' ', 'q', 'a', 'y']
  const run = await svc(['run', 'acme.refund-desk', 'order=A-7', 'amount:=180'], { tty: true, rows: 7, answers })
  const told = run.stderr.match(/Not approved[^\n]*|\d+ of \d+ lines seen; v [^\n]*/g)
  expect([...new Set(told)]).toEqual([
    'Not approved. Open the folded value first. Press v.',
    '6 of 13 lines seen; v continues there.',
    'Not approved. Read the opened value to the end first. 6 of 13 lines seen; v continues there.',
  ])
  expect(run).toMatchObject({ code: 0, asked: answers.map(() => '') })
  expect(run.stdout).toContain('"refunded":180')
})
