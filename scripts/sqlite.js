// Runs on `npm ci` in a checkout. On Node 20 it installs the release of better-sqlite3 that works there, which compiles itself. From
// Node 22 on npm installs a release with its binaries inside, and nothing is compiled.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const { config } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

const isThere = () => {
  try {
    const Database = createRequire(import.meta.url)('better-sqlite3')
    new Database(':memory:').close()
    return true
  } catch {
    return false
  }
}

if (Number.parseInt(process.versions.node) < 22 && !isThere()) {
  console.error(`svc: installing ${config.sqliteForNode20} for Node ${process.versions.node}`)
  const args = ['install', '--no-save', config.sqliteForNode20]
  const { status } = spawnSync('npm', args, { stdio: 'inherit', shell: process.platform === 'win32' })
  if (status !== 0) process.exit(status ?? 1)
}
