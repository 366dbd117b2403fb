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

test('where the card has room, the verb is the decision; where it has none, the call is shown whole and asked about', async () => {
  const low = await svc(['approve', '@waiting'], { tty: true, rows: 8, answers: [false] })
  expect(low.asked).toEqual(['Approve it with these arguments?'])
  expect(low.stderr).toContain('│ ┆   currency  "EUR"\n')
  expect(low.stderr).toContain('│ asks      acme.refund-desk@1.0.0-dev.1 · run ')
  expect(low).toMatchObject({ code: 2, stdout: '' })
  expect(low.stderr).toContain('Nothing was approved.')
  const high = await svc(['approve', '@waiting'], { tty: true, rows: 40 })
  expect(high).toMatchObject({ code: 0, asked: [] })
  expect(high.stdout).toMatch(/^approved acme\.refunds amount 180 \(1 of 1\)/)
})
