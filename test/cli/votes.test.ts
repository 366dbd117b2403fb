import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { going, svc as runSvc, temporary, type Going, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
/** Commands of ana, with her credential. */
const svc = (argv: readonly string[], more: Partial<WorldOptions> = {}) =>
  runSvc(argv, { cwd, ...more, env: { ...secretOf['ana'], ...more.env } })
const secretOf: Record<string, { readonly SVC_OPERATOR_KEY: string }> = {}
let dev: Going
const env = { SVC_OPERATOR: 'ana' }

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  dev = going(['dev', '--no-watch', '--json', '--port', '0'], { cwd, env })
  await dev.line(/"ready"/)
  for (const name of ['ana', 'bo']) {
    const created = await runSvc(['keys', 'create', '--operator', '--email', `${name}@acme.example`, '--json'], { cwd })
    secretOf[name] = { SVC_OPERATOR_KEY: (JSON.parse(created.stdout) as { secret: string }).secret }
  }
})
afterAll(async () => {
  await dev.end()
  remove()
})

test('a vote is told as a vote, names who is needed, and is asked once', async () => {
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount:=1500', '--detach'])
  await svc(['runs', 'get', '@last', '--wait'])
  const { items } = JSON.parse((await svc(['inbox', '--json'])).stdout) as { items: { argsDigest: string }[] }
  const approve = ['approve', '@waiting', '--args-digest', items[0]!.argsDigest]
  expect(Object.keys(items[0]!)).not.toContain('people')
  expect((await svc(approve)).stdout).toBe(
    'vote of operator ana@acme.example counted for Refund 1,500 EUR for A-1042: 1 of 2; waits for another person\n',
  )
  expect((await svc(approve)).stdout).toBe(
    'vote of operator ana@acme.example counts already for Refund 1,500 EUR for A-1042: 1 of 2; waits for another person\n',
  )
  const list = await svc(['inbox', '--no-input'], { tty: true })
  expect(list.stdout).toContain('Refund 1,500 EUR for A-1042 (1/2, not you)')
  const card = await svc(['runs', 'watch', '@last'], { tty: true, answers: ['l'] })
  expect(card.stderr).toContain('│ for       operator ana@acme.example\n')
  expect(card.stderr).toContain('│ votes     1 of 2: operator ana@acme.example; waits for another person\n')
  expect(card.stderr).toContain('│ you       operator ana@acme.example has voted; somebody else decides now\n')
  expect(card.stderr).not.toContain('[a]pprove')
  expect((await svc(approve, { env: secretOf['bo']! })).stdout).toMatch(
    /^approved Refund 1,500 EUR for A-1042 \(2 of 2\); run/,
  )
})

test('nobody is named without their credential, and a name that is only claimed is no vote of a quorum', async () => {
  await svc(['run', 'acme.refund-desk', 'order=A-2042', 'amount:=1600', '--detach'])
  await svc(['runs', 'get', '@last', '--wait'])
  const { items } = JSON.parse((await svc(['inbox', '--json'])).stdout) as { items: { argsDigest: string }[] }
  const approve = ['approve', '@waiting', '--args-digest', items[0]!.argsDigest]
  expect((await svc(approve)).code).toBe(0)
  const claimed = async (as: string) => {
    const { code, stderr } = await runSvc([...approve, '--as', as], { cwd })
    return [code, /decide this task: ([^\n]*)/.exec(stderr)?.[1]]
  }
  expect(await claimed('bo@acme.example')).toEqual([
    4,
    'bo@acme.example has a credential, and the request does not carry it.',
  ])
  expect(await claimed('ＢＯ@acme.example')).toEqual([
    4,
    'ＢＯ@acme.example has a credential, and the request does not carry it.',
  ])
  expect(await claimed('zoe@acme.example')).toEqual([
    4,
    'a quorum counts people, each with a credential of their own (svc keys create --operator --email YOU).',
  ])
  await svc(['reject', '@waiting', '--no-reason'], { env: secretOf['bo']! })
  // One approval of anybody is enough here, and the record says what it rests on.
  await svc(['run', 'acme.refund-desk', 'order=A-3042', 'amount:=180', '--detach'])
  await svc(['runs', 'get', '@last', '--wait'])
  expect((await runSvc(['approve', '@waiting', '--as', 'zoe@acme.example'], { cwd })).code).toBe(0)
  await svc(['runs', 'get', '@last', '--wait=terminal'])
})

test('what was decided about a tool before is told with names', async () => {
  const run = ['run', 'acme.refund-desk', 'order=A-1042', 'amount:=180']
  const { stderr } = await svc(run, { tty: true, answers: ['h', 'a', 'y'] })
  expect(stderr).toMatch(/│ Decided before about acme\.refunds: 3 \(2 approved, 1 rejected\)\n/)
  expect(stderr).toMatch(/│ .*  Refund 180 EUR for A-3042  approved by zoe@acme\.example \(claimed, not proved\)\n/)
  expect(stderr).toMatch(/│ .*  Refund 1,500 EUR for A-1042  approved by operator bo@acme\.example\n/)
  expect(stderr).toContain('└ approved by operator ana@acme.example\n')
})
