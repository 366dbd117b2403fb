import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { going, svc as runSvc, temporary, type Going, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], more: Partial<WorldOptions> = {}) => runSvc(argv, { cwd, ...more })
let dev: Going
const env = { SVC_OPERATOR: 'ana' }

beforeAll(async () => {
  await runSvc(['init', 'shop'], { cwd: parent })
  dev = going(['dev', '--no-watch', '--json', '--port', '0'], { cwd, env })
  await dev.line(/"ready"/)
})
afterAll(async () => {
  await dev.end()
  remove()
})

const bo = ['--as', 'bo@acme.example']

test('a vote is told as a vote, names who is needed, and is asked once', async () => {
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount:=1500', '--detach'])
  await svc(['runs', 'get', '@last', '--wait'])
  const { items } = JSON.parse((await svc(['inbox', '--json'])).stdout) as { items: { argsDigest: string }[] }
  const approve = ['approve', '@waiting', '--args-digest', items[0]!.argsDigest]
  expect(Object.keys(items[0]!)).not.toContain('people')
  expect((await svc(approve)).stdout).toBe(
    'vote of operator ana counted for acme.refunds amount 1500: 1 of 2; waits for another person\n',
  )
  expect((await svc(approve)).stdout).toBe(
    'vote of operator ana counts already for acme.refunds amount 1500: 1 of 2; waits for another person\n',
  )
  const list = await svc(['inbox', '--no-input'], { tty: true })
  expect(list.stdout).toContain('acme.refunds amount 1500 (1/2, not you)')
  const card = await svc(['runs', 'watch', '@last'], { tty: true, answers: ['l'] })
  expect(card.stderr).toContain('│ for       operator ana\n')
  expect(card.stderr).toContain('│ votes     1 of 2: operator ana; waits for another person\n')
  expect(card.stderr).toContain('│ you       operator ana has voted; somebody else decides now\n')
  expect(card.stderr).not.toContain('[a]pprove')
  expect((await svc([...approve, ...bo])).stdout).toMatch(/^approved acme\.refunds amount 1500 \(2 of 2\); run/)
})

test('what was decided about a tool before is told with names', async () => {
  const run = ['run', 'acme.refund-desk', 'order=A-1042', 'amount:=180']
  const { stderr } = await svc(run, { tty: true, answers: ['h', 'a'] })
  expect(stderr).toMatch(/│ Decided before about acme\.refunds: 1 \(1 approved\)\n/)
  expect(stderr).toMatch(/│ .*  acme\.refunds amount 1500  approved by operator bo@acme\.example\n/)
  expect(stderr).toContain('└ approved by operator ana\n')
})
