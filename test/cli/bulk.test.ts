/** `svc approve` with several tasks, and `svc claim`. Source: docs/design/approvals.md#approving-several-at-once */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { going, svc as runSvc, temporary, type Going, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], more: Partial<WorldOptions> = {}) => runSvc(argv, { cwd, ...more })
let dev: Going

const IRREVERSIBLE = ['side_effect_class: non_idempotent_write', 'side_effect_class: irreversible_action'] as const

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  dev = going(['dev', '--no-watch', '--json', '--port', '0'], { cwd, env: { SVC_OPERATOR: 'ana' } })
  await dev.line(/"ready"/)
})
afterAll(async () => {
  await dev.end()
  remove()
})

async function waitingIds(amounts: readonly number[]): Promise<readonly string[]> {
  for (const amount of amounts) {
    await svc(['run', 'acme.refund-desk', `order=A-${amount}`, `amount:=${amount}`, '--detach'])
    await svc(['runs', 'get', '@last', '--wait'])
  }
  const { items } = JSON.parse((await svc(['inbox', '--json'])).stdout) as { items: { userTaskId: string }[] }
  return items.map(({ userTaskId }) => userTaskId)
}

test('several approvals show their arguments side by side before they are asked for', async () => {
  const ids = await waitingIds([180, 190])
  const refused = await svc(['approve', ...ids], { tty: true, answers: [false] })
  expect(refused.code).toBe(2)
  expect(refused.stderr).toMatch(/TASK\s+CALL\s+order\s+amount\s+currency\n/)
  expect(refused.stderr).toMatch(/[0-9a-f]{6}\s+acme\.refunds\s+"A-190"\s+190\s+"EUR"\n/)
  expect(refused.stderr).toContain('Nothing was approved.')
  expect(JSON.parse((await svc(['inbox', '--count', '--json'])).stdout)).toEqual({ total: 2 })
  const done = await svc(['approve', ...ids], { tty: true, answers: [true] })
  expect(done.stdout).toMatch(
    /^approved Refund 180 EUR for A-180 \(1 of 1\).*\napproved Refund 190 EUR for A-190 \(1 of 1\).*\n$/,
  )
})

test('a claim is told in the inbox until it is left', async () => {
  const [id] = await waitingIds([170])
  expect((await svc(['claim', id!])).stdout).toBe('Refund 170 EUR for A-170: you are looking\n')
  expect((await svc(['inbox', '--no-input'], { tty: true })).stdout).toContain(
    'Refund 170 EUR for A-170 (you are looking)',
  )
  expect((await svc(['claim', id!, '--leave'])).stdout).toBe('Refund 170 EUR for A-170: nobody is looking\n')
  await svc(['reject', id!, '--no-reason'])
  expect(await svc(['claim', id!])).toMatchObject({ code: 6, stdout: '' })
})

test('calls that cannot be undone are not approved together, unless the policy says so; rejecting them is', async () => {
  const tool = join(cwd, 'tools/refunds.yaml')
  writeFileSync(tool, readFileSync(tool, 'utf8').replace(...IRREVERSIBLE))
  await svc(['publish', '--deploy', '--yes'])
  const ids = await waitingIds([210, 220])
  const refused = await svc(['approve', ...ids])
  expect(refused).toMatchObject({ code: 6, stdout: '' })
  expect(refused.stderr).toMatch(
    /This task is not approved together with others: [0-9a-f]{6}: its call cannot be undone, and no policy says svc\/bulk: true\./,
  )
  expect(refused.stderr).toMatch(/fix:\s+svc approve [0-9a-f]{6}\n/)
  expect(JSON.parse((await svc(['inbox', '--count', '--json'])).stdout)).toEqual({ total: 2 })
  expect((await svc(['reject', ...ids, '--no-reason'])).code).toBe(0)

  const policy = join(cwd, 'policies/refund-limit.yaml')
  const text = readFileSync(policy, 'utf8')
  writeFileSync(policy, text.replace('    runtime:\n', '    runtime:\n      svc/bulk: true\n'))
  for (const name of readdirSync(cwd, { recursive: true, encoding: 'utf8' }).filter(
    (each) => each.endsWith('.yaml') && !each.startsWith('.svc'),
  )) {
    const path = join(cwd, name)
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replaceAll(/(\bversion: |@)1\.0\.0\b/g, (_, before: string) => `${before}2.0.0`),
    )
  }
  const published = await svc(['publish', '--deploy', '--yes', '--allow-widen'])
  expect(`${published.stdout}${published.stderr}`).toMatch(/also together with others/)
  const both = await waitingIds([210, 220])
  // Nobody saw them side by side.
  const unseen = await svc(['approve', ...both])
  expect(unseen).toMatchObject({ code: 6, stdout: '' })
  expect(unseen.stderr).toContain('its call cannot be undone')
  expect((await svc(['approve', ...both], { tty: true, answers: [true] })).code).toBe(0)
})
