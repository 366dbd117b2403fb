/** docs/install.md with the real npm, in an empty home. `test/examples/pipelines.test.ts` installs in a project. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { npm, npmEnvironment, packPackage } from './packed.ts'
import { removeDirectory } from './remove-directory.ts'

vi.setConfig({ testTimeout: 240_000 })
const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/install.md'), 'utf8')
const home = mkdtempSync(join(tmpdir(), 'svc-install-'))
afterAll(() => removeDirectory(home))

const packed = packPackage()
beforeEach(({ skip }) => skip(!packed.isInstalled, 'npm reaches no registry'))

/** A start by name, as in a new shell. */
function svc(prefix: string, args: readonly string[]) {
  const { PATH, LANG } = npmEnvironment()
  const env = { PATH: `${join(prefix, 'bin')}:${PATH}`, LANG, HOME: home }
  const { status, stdout } = spawnSync('sh', ['-c', 'exec svc "$@"', 'sh', ...args], {
    cwd: home,
    env,
    encoding: 'utf8',
  })
  return { status, stdout }
}

test('npm installs the archive, compiles nothing, and the command and its man page are there', () => {
  expect(page).toContain(`npm install --global ./${basename(packed.archive)}\n`)
  expect(packed.printed).not.toMatch(/gyp(?!-build)|deprecated|EBADENGINE/)
  expect(svc(packed.prefix, ['--version'])).toEqual({ status: 0, stdout: '0.1.0\n' })
  expect(svc(packed.prefix, ['demo', '--speed', '0'])).toEqual({
    status: 0,
    stdout: expect.stringMatching(/\ncompleted\t\{"refunded":180,"currency":"EUR"\}\n$/) as unknown,
  })
  expect(readFileSync(join(packed.prefix, 'share/man/man1/svc.1'), 'utf8')).toContain('.TH SVC 1')
})

test('an installation takes what the page says, with the SQLite of every version of Node and without it', () => {
  const drivers = ['@photostructure/sqlite', 'better-sqlite3'].map((name) =>
    join(packed.directory, 'node_modules', name),
  )
  const whole = sizeOf(packed.directory) / 1e6
  const without = whole - drivers.reduce((bytes, driver) => bytes + sizeOf(driver), 0) / 1e6
  // better-sqlite3 serves Node 22 and later, and npm installs it there alone, beside the prebuilt one.
  expect(whole).toBeLessThan(existsSync(drivers[1]!) ? 135 : 108)
  const [said] = /(\d+) MB(?= \(\d+ MB on disk\))/.exec(page)!
  expect(Math.abs(without - Number.parseInt(said))).toBeLessThan(2)
})

/** Bytes of files: those of directories depend on the file system. */
function sizeOf(directory: string): number {
  if (!existsSync(directory)) return 0
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((each) => each.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}

test('npm ci installs the locked versions', () => {
  const locked = lockedVersions('package-lock.json')
  const installed = lockedVersions('node_modules/.package-lock.json')
  const other = [...installed].filter(([path, version]) => locked.has(path) && locked.get(path) !== version)
  expect(other.map(([path]) => path).filter((path) => path !== 'node_modules/better-sqlite3')).toEqual([])
})

/** By path of the package. */
function lockedVersions(file: string): ReadonlyMap<string, string> {
  const { packages } = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
    packages: Record<string, { version: string }>
  }
  return new Map(Object.entries(packages).map(([path, { version }]) => [path, version]))
}

test('npm installs the checkout itself', () => {
  expect(page).toContain('npm ci && npm install --global .\n')
  const prefix = join(home, 'checkout')
  npm(['install', '--global', '--prefix', prefix, '.'], root)
  expect(svc(prefix, ['--version'])).toEqual({ status: 0, stdout: '0.1.0\n' })
})
