/**
 * A built image, as a user meets it: `SVC_TEST_IMAGE=svc npx vitest run test/deploy/image.test.ts` after `docker build -t svc .`.
 * `SVC_TEST_ENGINE` is docker or podman. Skipped where no image is named, since a build takes minutes and needs a registry.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeDirectory } from '../remove-directory.ts'

const image = process.env['SVC_TEST_IMAGE']
const engine = process.env['SVC_TEST_ENGINE'] ?? 'docker'
if (image === undefined) process.stderr.write('SVC_TEST_IMAGE names no image: its tests are skipped (docker build).\n')

const MIB = 1024 * 1024
/** What an image may weigh on its way through a registry. */
const MOST_BYTES = 120 * 1000 * 1000

describe.skipIf(image === undefined)('the image', { timeout: 120_000 }, () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-image-'))
  const name = `svc-test-${process.pid}`
  const call = (args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(engine, args, { encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  /** With a root that cannot be written, and as whoever made the directory. */
  const once = (...args: string[]) =>
    call(['run', '--rm', '--read-only', '--tmpfs', '/tmp', '--network', 'none', '-v', `${home}:/project`, ...args])
  const inside = (...args: string[]) => call(['exec', name, ...args])

  beforeAll(() => chmodSync(home, 0o777))
  afterAll(() => {
    call(['rm', '--force', '--volumes', name])
    removeDirectory(home)
  })

  test('runs as a user without privileges, on a root that cannot be written', () => {
    expect(once('--entrypoint', 'id', image!, '-u').stdout).toBe('10001\n')
    expect(once('--entrypoint', 'touch', image!, '/opt/svc/x').stderr).toContain('Read-only file system')
    // Also as a user that the image does not know.
    expect(once('--user', '4242:4242', image!, 'demo')).toMatchObject({ status: 0 })
  })

  test('has every optional package and lists what is in it', () => {
    const peers = 'Object.keys(JSON.parse(fs.readFileSync("/opt/svc/package.json")).peerDependencies)'
    const resolves = `Promise.all(${peers}.map((n) => import(n))).then((all) => console.log(all.length > 2))`
    const run = once(
      '--entrypoint',
      'sh',
      image!,
      '-c',
      `cd /opt/svc && node --input-type=module -e 'import fs from "fs"; ${resolves}'`,
    )
    expect(run).toMatchObject({ status: 0, stdout: 'true\n' })
    const listed = once('--entrypoint', 'cat', image!, '/opt/svc/sbom.cdx.json').stdout
    const { components } = JSON.parse(listed) as { components: { name: string }[] }
    expect(components.map((each) => each.name)).toEqual(expect.arrayContaining(['pg', 'openai']))
  })

  test('serves a project, asks a person, and ends at SIGTERM', async () => {
    expect(once(image!, 'init', 'desk', '--full')).toMatchObject({ status: 0 })
    const project = `${join(home, 'desk')}:/project:ro`
    const ledger = 'REFUNDS_LEDGER=/data/refunds.log'
    const flags = ['--read-only', '--tmpfs', '/tmp', '--network', 'none', '--init', '-v', project, '-e', ledger]
    expect(call(['run', '--detach', '--name', name, ...flags, image!])).toMatchObject({ status: 0 })
    await expect.poll(() => inside('svc', 'health').status, { interval: 300 }).toBe(0)
    expect(inside('svc', 'run', 'acme.refund-desk', 'order=A-1042', 'amount:=180').status).toBe(3)
    expect(inside('svc', 'approve', '@waiting', '--yes')).toMatchObject({ status: 0 })
    const { stdout } = inside('svc', 'runs', 'get', '@last', '--wait', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'Completed', output: { refunded: 180, currency: 'EUR' } })
    expect(inside('svc', 'doctor').status).toBe(0)
    const from = performance.now()
    expect(call(['stop', '--time', '30', name]).status).toBe(0)
    expect(performance.now() - from).toBeLessThan(10_000)
    expect(call(['inspect', '--format', '{{.State.ExitCode}}', name]).stdout).toBe('0\n')
  })

  test('is small', () => {
    const archive = execFileSync(engine, ['save', image!], { maxBuffer: 2048 * MIB })
    expect(gzipSync(archive).length).toBeLessThan(MOST_BYTES)
  })
})
