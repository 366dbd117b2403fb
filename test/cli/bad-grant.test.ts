/** What a bad grant would allow can be asked before it is mended. Source: docs/design/policies.md#replay */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeIrreversible } from './desk.ts'
import { svc as run, temporary, type Ran } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'desk')
const svc = (...argv: string[]): Promise<Ran> => run(argv, { cwd })
const ask = (...more: string[]): Promise<Ran> =>
  svc('policy', 'eval', '--tool', 'acme.refunds', '--args', '{"order":"A-1","amount":4000,"currency":"EUR"}', ...more)

beforeAll(async () => {
  await run(['init', 'desk', '--full'], { cwd: parent })
  makeIrreversible(cwd)
  const grant = join(cwd, 'policies/small-refunds.yaml')
  writeFileSync(grant, readFileSync(grant, 'utf8').replace(/  conditions:[\s\S]*?(?=  decision:)/, ''))
  const gate = join(cwd, 'policies/refund-limit.yaml')
  writeFileSync(gate, readFileSync(gate, 'utf8').replace(/type: require_approval/, 'type: allow'))
})
afterAll(remove)

const BANNER = /^decided in spite of (\d+ errors?), with which nothing can be published$/m

test('svc policy eval decides under a banner that says so', async () => {
  const { code, stdout, stderr } = await ask()
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^allow {2}/)])
  expect(stderr).toMatch(BANNER)
  expect(stderr).toContain('security/blanket-allow-irreversible')
  const json = await ask('--json')
  expect(JSON.parse(json.stdout)).toMatchObject({ decision: 'allow' })
  expect(json.stderr).toMatch(/^decided in spite of \d+ errors?, with which nothing can be published\n$/)
})

test('svc policy test runs the tests, and says it once', async () => {
  const test = (name: string): string =>
    `agent: acme.refund-desk\ncalls:\n  - { name: ${name}, tool: acme.refunds, args: { order: A-1, amount: 4000, currency: EUR }, expect: allow }\n`
  for (const name of ['one', 'two']) writeFileSync(join(cwd, `${name}.policytest.yaml`), test(name))
  const { code, stdout, stderr } = await svc('policy', 'test', 'one.policytest.yaml', 'two.policytest.yaml')
  expect([code, stdout]).toEqual([0, 'one.policytest.yaml   1 passed\ntwo.policytest.yaml   1 passed\n'])
  expect(stderr.split('decided in spite of')).toHaveLength(2)
})

test('nothing else takes such a bundle', async () => {
  for (const argv of [['compile'], ['publish', '--plan'], ['bundle', 'pack']])
    expect([argv, (await svc(...argv)).code]).toEqual([argv, 1])
})

test('what cannot be compiled is not decided', async () => {
  appendFileSync(join(cwd, 'policies/refund-limit.yaml'), 'nonsense: true\n')
  expect(await ask()).toMatchObject({ code: 1, stdout: '' })
})
