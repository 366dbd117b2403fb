/** Passkeys in a terminal, on the machine of the server. Source: docs/design/approvals.md#passkeys */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { workspaceIdOf } from '../../src/base/ids.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { removeDirectory } from '../remove-directory.ts'
import { aPasskey, NOW } from '../store/makers.ts'
import { svc } from './recording-io.ts'

const cwd = mkdtempSync(join(tmpdir(), 'svc-passkeys-'))
const clock = { now: () => NOW + 3_600_000, monotonic: () => performance.now() }
const workspaceId = workspaceIdOf('acme')
const laptop = aPasskey('laptop', { workspaceId, lastUsedAt: NOW })
const phone = aPasskey('phone\u001B[2K', { workspaceId, isDeviceBound: false, isBackedUp: true, createdAt: NOW + 1 })
const ending = laptop.id.slice(-6)

beforeAll(async () => {
  writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: acme\n')
  mkdirSync(join(cwd, 'data'))
  const store = openSqlite(join(cwd, 'data/data.db'), { clock })
  await store.createPasskey(laptop)
  await store.createPasskey(phone)
  await store.close()
})
afterAll(() => removeDirectory(cwd))

const passkeys = (argv: readonly string[], more: object = {}) =>
  svc(['passkeys', ...argv, '--data', 'data'], { cwd, clock, ...more })

test('are listed with the person and the kind of device', async () => {
  const { code, stdout } = await passkeys(['list'], { tty: true })
  expect([code, stdout]).toEqual([
    0,
    `PASSKEY  PERSON            NAME    KIND                  ADDED       LAST USED
${ending}   ana@acme.example  laptop  bound to its device   1 h ago     1 h ago
${phone.id.slice(-6)}   ana@acme.example  phone   copied to an account  59 min ago  never
`,
  ])
})

test('one is removed by its ending, after a question, and once', async () => {
  const kept = await passkeys(['remove', ending], { tty: true, answers: [false] })
  expect([kept.code, kept.asked]).toEqual([0, ['Remove passkey "laptop" of ana@acme.example (last used 1 h ago)?']])
  const removed = await passkeys(['remove', ending, '--yes'])
  expect([removed.code, removed.stdout]).toEqual([0, 'removed passkey "laptop" of ana@acme.example\n'])
  const again = await passkeys(['remove', ending, '--yes'])
  expect([again.code, again.stderr]).toEqual([
    5,
    `error[not_found]: No such passkey ${ending}.\n  fix:  svc passkeys list shows them.\n`,
  ])
  const { stdout } = await passkeys(['list', '--json'])
  expect((JSON.parse(stdout) as { items: { name: string }[] }).items.map(({ name }) => name)).toEqual([phone.name])
})
