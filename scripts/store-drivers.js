// Runs the contract of the store with each SQLite driver on each version of Node that is promised. Node and better-sqlite3 for it come
// from npm, as the lock file of test/store/tools pins them; Node 20 is the one that runs this. With --others, beside a run of all tests:
// only the later versions of Node, each with a driver that Node 20 does not have. The newest one runs, too, what depends on Node most.
// Ends with `N passed, N failed`, which it adds to the file that SVC_TEST_SUMMARY names.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installTools } from './tools.js'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)
const TOOLS = 'test/store/tools'
const TESTS = ['connect', 'lock', 'read-only', 'sqlite', 'writer'].map((name) => `test/store/${name}.test.ts`)
/** Parsers, sockets, streams and programs: where versions of Node differed. */
const OF_NODE = [
  ...['base', 'blobs', 'client', 'policy', 'providers', 'spec', 'terminal', 'tools'].map((room) => `test/${room}`),
  ...['cli/dot-env', 'cli/template-handlers', 'e2e/coder-template', 'server/stream'].map(
    (name) => `test/${name}.test.ts`,
  ),
]
const PREBUILT = '@photostructure/sqlite'

const has = (name) => {
  try {
    createRequire(join(root, 'package.json'))(name)
    return true
  } catch {
    return false
  }
}

const tools = installTools(TOOLS)
const later = [22, 24].map((major) =>
  join(root, TOOLS, `node_modules/node${major}-${process.platform}-${process.arch}/bin/node`),
)
const missing = tools ? later.filter((node) => !existsSync(node)) : later
if (missing.length > 0)
  console.error(`Not tried, because npm has no Node 22 and 24 for this machine: ${missing.join(', ')}`)
const drivers = ['better-sqlite3', 'node:sqlite', PREBUILT]
const all = [
  [process.execPath, PREBUILT],
  ...(has('better-sqlite3') ? [[process.execPath, 'better-sqlite3']] : []),
  ...later.flatMap((node) => drivers.map((driver) => [node, driver])),
]
const others = later.map((node, i) => [node, drivers[i]])
const runs = [[later.at(-1), 'node:sqlite', OF_NODE], ...(process.argv.includes('--others') ? others : all)].filter(
  ([node]) => !missing.includes(node),
)

const home = mkdtempSync(join(tmpdir(), 'svc-drivers-'))
const total = { passed: 0, failed: 0 }

async function tryDriver(node, driver, tests = TESTS) {
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim()
  const summary = join(home, `${version}-${driver.replace('/', '-')}-${tests.length}`)
  const child = spawn(node, ['node_modules/vitest/vitest.mjs', 'run', '--maxWorkers=1', ...tests], {
    env: {
      ...process.env,
      SVC_TEST_SQLITE: driver,
      SVC_TEST_SLOW: 'without',
      TEST_BUILD: 'off',
      SVC_TEST_SUMMARY: summary,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  await once(child, 'close')
  const said = existsSync(summary) ? readFileSync(summary, 'utf8') : ''
  const [, passed, failed] = /^(\d+) passed, (\d+) failed/m.exec(said) ?? ['', 0, 1]
  total.passed += Number(passed)
  total.failed += Number(failed)
  console.log(
    `Node ${version}, ${driver}${tests === TESTS ? '' : ', what depends on Node'}: ${passed} passed, ${failed} failed`,
  )
  if (Number(failed) > 0) console.log(printed)
}

// Two at a time: the contract keeps one processor busy.
const worker = async () => {
  for (let next = runs.shift(); next !== undefined; next = runs.shift()) await tryDriver(...next)
}
await Promise.all([worker(), worker()])
rmSync(home, { recursive: true, force: true })
const line = `${total.passed} passed, ${total.failed} failed`
console.log(line)
if (process.env['SVC_TEST_SUMMARY']) appendFileSync(process.env['SVC_TEST_SUMMARY'], `${line}\n`)
if (total.failed > 0) process.exitCode = 1
