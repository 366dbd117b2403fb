/** A stricter deployment: what still runs under the version before, and how it is held. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OperatorRoutes } from '../../src/operations/operations.ts'
import { going, svc as runSvc, temporary, type Going, type WorldOptions } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[], more: Partial<WorldOptions> = {}) => runSvc(argv, { cwd, ...more })
let server: Going

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  await svc(['publish', '--deploy'])
  server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
  await svc(['run', 'acme.refund-desk', 'order=A-1042', 'amount:=180', '--detach'])
  await svc(['runs', 'get', '@last', '--wait'])
})
afterAll(async () => {
  await server.end()
  remove()
})

const KEEPS = /^1 open run of acme\.refund-desk@1\.0\.0 keeps what 2\.0\.0 does not allow:\n {2}acme\.refunds: .+\n/m

test('a stricter deployment says what still runs, asks at a terminal, and holds with --hold-older', async () => {
  const policy = join(cwd, 'policies/refund-limit.yaml')
  writeFileSync(policy, readFileSync(policy, 'utf8').replace('value: 100', 'value: 50'))
  const published = await svc(['publish', '--deploy', '--bump', 'major', '--yes'])
  expect(published).toMatchObject({ code: 0, asked: [] })
  expect(published.stderr).toMatch(KEEPS)
  expect(published.stderr).toContain('svc stop --version acme.refund-desk@1.0.0')

  const again = ['deploy', 'acme.refund-desk@2.0.0']
  const left = await svc(again, { tty: true, answers: [false] })
  expect(left.asked).toEqual(['Hold these runs until somebody lets them go on?'])
  const paused = async (): Promise<readonly string[]> =>
    (JSON.parse((await svc(['stop', '--list', '--json'])).stdout) as { items: { name: string }[] }).items.map(
      ({ name }) => name,
    )
  expect(await paused()).toEqual([])

  const held = JSON.parse((await svc([...again, '--hold-older', '--json'])).stdout) as {
    older: OperatorRoutes['GET /looser-versions']['answer']
  }
  expect(held.older).toEqual({
    items: [{ version: '1.0.0', runs: 1, looser: [expect.stringMatching(/^acme\.refunds: /)], held: true }],
    triggers: [],
  })
  expect(await paused()).toEqual(['acme.refund-desk@1.0.0'])

  const quiet = await svc(again, { tty: true })
  expect(quiet.asked).toEqual([])
})
