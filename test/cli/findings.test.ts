import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { svc, temporary } from './recording-io.ts'

const { path: home, remove } = temporary()
afterAll(remove)

let cwd = ''
let count = 0
beforeEach(async () => {
  cwd = join(home, `project-${(count += 1)}`)
  await svc(['init', cwd, '--full'], { cwd: home })
})

test('findings of a failed build are printed once, not again by the failure', async () => {
  const file = join(cwd, 'agents/refund-desk.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('  purpose:', '  purpos:'))
  const { code, stdout, stderr } = await svc(['compile'], { cwd })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr.match(/Did you mean `purpose`\?/g)).toHaveLength(1)
  expect(stderr).toMatch(/\nerror\[documents_have_errors\]: 1 error in 1 file\.\n$/)
})

test('findings caused by an unreadable file are left out', async () => {
  appendFileSync(join(cwd, 'policies/large-refunds.yaml'), 'a: [b\n')
  const { code, stderr } = await svc(['compile'], { cwd })
  expect(code).toBe(1)
  expect(stderr.match(/ (error|warn|info) {2}\S+/g)).toEqual([' error  doc/syntax'])
  expect(stderr).toMatch(/\nerror\[documents_have_errors\]: 1 error in 1 file\.\n$/)
})

test('what lint and compile both find is reported once', async () => {
  const file = join(cwd, 'agents/refund-desk.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('- refunds-above-limit', '- refunds-above-limits'))
  for (const [strict, code] of [
    [[], 0],
    [['--strict'], 1],
  ] as const) {
    const ran = await svc(['compile', ...strict], { cwd })
    expect(ran.code).toBe(code)
    expect(ran.stderr.match(/ {2}authority\/unresolved\n.*/g)).toEqual([
      '  authority/unresolved\n  No policy is linked to the boundary "refunds-above-limits". Did you mean "refunds-above-limit"?',
    ])
  }
})
