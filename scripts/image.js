// Writes what the image installs, deploy/image/package.json and its lock: every dependency of the program and every optional peer, since
// nobody can install one later. Run it after a change of a dependency; `test/deploy/dockerfile.test.ts` says when.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = new URL('../', import.meta.url)
const folder = new URL('deploy/image/', root)
const read = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))

/** The manifest of the image. Optional peers have the version that is tested. */
export function imageManifest() {
  const { name, version, license, dependencies, devDependencies, peerDependencies } = read('package.json')
  const pinned = { ...read('scripts/tools/package.json').dependencies, ...devDependencies }
  const peers = Object.keys(peerDependencies).map((peer) => [peer, pinned[peer]])
  const missing = peers.filter(([, pin]) => pin === undefined).map(([peer]) => peer)
  if (missing.length > 0) throw new Error(`No exact version is pinned for ${missing.join(', ')}.`)
  const all = [...Object.entries(dependencies), ...peers].sort(([a], [b]) => (a < b ? -1 : 1))
  const description = 'What the image installs. Written by scripts/image.js.'
  return { name, version, private: true, license, description, dependencies: Object.fromEntries(all) }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(new URL('package.json', folder), `${JSON.stringify(imageManifest(), null, 2)}\n`)
  // What both install has the version of the checkout, with which the tests ran.
  copyFileSync(new URL('package-lock.json', root), new URL('package-lock.json', folder))
  const settings = [
    '--package-lock-only',
    '--ignore-scripts',
    '--omit-lockfile-registry-resolved',
    '--no-audit',
    '--no-fund',
  ]
  process.exitCode = spawnSync('npm', ['install', ...settings], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  }).status
}
