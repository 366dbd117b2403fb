/** Triggers under `svc dev` are what the project file says, and nothing that it said once. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TriggerView } from '../../src/operations/triggers.ts'
import { going, svc, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'desk')
const config = join(cwd, 'svc.config.yaml')
let plain = ''

beforeAll(async () => {
  await svc(['init', 'desk', '-t', 'blank'], { cwd: parent })
  plain = readFileSync(config, 'utf8')
})
afterAll(remove)

/** The triggers while `svc dev` serves this project file. */
async function served(triggers: readonly object[]): Promise<Record<string, Partial<TriggerView>>> {
  writeFileSync(config, `${plain}\ntriggers: ${JSON.stringify(triggers)}\n`)
  const dev = going(['dev', '--port', '0', '--no-watch', '--json'], { cwd })
  await dev.line(/"ready"/)
  try {
    const { stdout } = await svc(['triggers', 'list', '--json'], { cwd })
    return Object.fromEntries((JSON.parse(stdout) as { items: TriggerView[] }).items.map((each) => [each.name, each]))
  } finally {
    await dev.end()
  }
}

const DEFAULTS = {
  exposeTimeline: true,
  allowDelete: false,
  allowApprovals: false,
  allowOlderVersions: false,
  allowIps: [],
  ratePerMinute: null,
  ratePerDay: null,
  maxConcurrentRuns: null,
}
const SETTINGS = {
  exposeTimeline: false,
  allowDelete: true,
  allowApprovals: true,
  allowOlderVersions: true,
  allowIps: ['10.0.0.0/8'],
  ratePerMinute: 7,
  ratePerDay: 70,
  maxConcurrentRuns: 2,
}

test('a setting, a right or a whole trigger that left the file has no effect any more', async () => {
  const [web, nightly] = [
    { type: 'api', name: 'web' },
    { type: 'schedule', name: 'nightly', cron: '0 3 * * *', input: { question: 'What is new?' } },
  ]
  const whole = await served([{ ...web, ...SETTINGS }, nightly, { type: 'api', ...SETTINGS }])
  expect(whole['web']).toMatchObject({ active: true, ...SETTINGS })
  expect(whole['nightly']).toMatchObject({ active: true, next: expect.arrayContaining([expect.any(String)]) })
  expect(whole['api']).toMatchObject({ active: true, ...SETTINGS })

  const bare = await served([web])
  expect(bare['web']).toMatchObject({ triggerId: whole['web']!.triggerId, active: true, ...DEFAULTS })
  expect(bare['nightly']).toMatchObject({ active: false, next: [] })
  // The key of svc dev is one of this trigger.
  expect(bare['api']).toMatchObject({ active: true, ...DEFAULTS })

  const none = await served([])
  expect(none['web']).toMatchObject({ active: false, ...DEFAULTS })

  const back = await served([web, nightly])
  expect(back['web']).toMatchObject({ triggerId: whole['web']!.triggerId, active: true })
  expect(back['nightly']).toMatchObject({ triggerId: whole['nightly']!.triggerId, active: true })
})

test('a trigger that was made or turned off by hand stays as it is', async () => {
  await served([{ type: 'api', name: 'web' }])
  const dev = going(['dev', '--port', '0', '--no-watch', '--json'], { cwd })
  await dev.line(/"ready"/)
  await svc(['triggers', 'create', 'acme.assistant', '--type', 'api', '--name', 'hand', '--rate', '9/m'], { cwd })
  const { stdout } = await svc(['triggers', 'list', '--json'], { cwd })
  const web = (JSON.parse(stdout) as { items: TriggerView[] }).items.find(({ name }) => name === 'web')!
  expect((await svc(['triggers', 'update', web.triggerId, '--no-active'], { cwd })).code).toBe(0)
  await dev.end()
  const after = await served([{ type: 'api', name: 'web' }])
  expect(after['hand']).toMatchObject({ active: true, ratePerMinute: 9 })
  expect(after['web']).toMatchObject({ active: false })
})
