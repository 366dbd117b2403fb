// Format, lint, types and dead code, and then the tests, but for the slow ones unless SVC_TEST_SLOW is `all`; with --fast, only the tests
// that start no program, browser or database, which is what to run before a commit. With --slow only the slow tests (test/slow.ts), with
// --long only those of generated cases, with all of their cases (test/cases.ts). Checks run two at a time; what one printed is shown
// where it failed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commandOf, installChecks } from './tool.js'
import { installTools } from './tools.js'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const isFast = process.argv.includes('--fast')
const PURE = [
  'base',
  'spec',
  'operations',
  'view',
  'policy',
  'terminal',
  'documents/rules.test.ts',
  'names.test.ts',
  'floors.test.ts',
]
const VITEST = [process.execPath, 'node_modules/vitest/vitest.mjs', 'run']
const build = [process.execPath, 'scripts/build.js', '--types', '--failpoints', '--if-changed']
if (!installChecks()) process.exit(1)
const checks = {
  ...(isFast && {
    tests: [...VITEST, '--maxWorkers=1', ...PURE.map((each) => `test/${each}`)],
  }),
  lint: [...commandOf('oxlint'), '--type-aware', '--deny-warnings'],
  types: [...commandOf('tsc'), '-p', '.'],
  'dead code': commandOf('knip'),
  format: [...commandOf('oxfmt'), '--check'],
}
// The build is made once, before.
const slow = process.env['SVC_TEST_SLOW'] ?? 'without'
const env = { ...process.env, TEST_BUILD: 'off', SVC_TEST_SLOW: slow }

async function run(name, [command, ...args]) {
  const begun = Date.now()
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const [status] = await once(child, 'close')
  if (status !== 0) process.exitCode = 1
  console.log(`${status === 0 ? '✔' : '✖'} ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`)
  if (status !== 0) console.log(printed)
}

/** Runs vitest on this terminal. */
async function test(files, extra = {}) {
  const [command, ...args] = [...VITEST, ...files]
  const [status] = await once(spawn(command, args, { env: { ...env, ...extra }, stdio: 'inherit' }), 'close')
  if (status !== 0) process.exitCode = 1
}

/** Files of tests that try generated cases. */
const generated = () =>
  readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
    .map((path) => `test/${path}`)
    .filter((path) => /\b(?:cases\(|isLong\b)/.test(readFileSync(path, 'utf8')))

installTools('test')
await run('build', build)
if (process.argv.includes('--slow')) {
  await test([], { SVC_TEST_SLOW: 'only' })
  process.exit()
}
if (process.argv.includes('--long')) {
  await test(generated(), { SVC_TEST_LONG: '1', SVC_TEST_SLOW: 'all' })
  process.exit()
}
const waiting = Object.entries(checks)
const worker = async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(...next)
}
await Promise.all([worker(), worker()])
if (!isFast) {
  await test([])
  if (slow === 'without') console.log('Left out: slow tests (npm run check:slow).')
}
