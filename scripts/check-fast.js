// What to run before a commit: format, lint, types, dead code and the tests that start no program, browser or database. Two at a time;
// what each printed is shown where it failed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { installTools } from './tools.js'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const PURE = ['base', 'spec', 'policy', 'terminal', 'documents/rules.test.ts', 'names.test.ts', 'floors.test.ts']
/** Takes half a minute alone. */
const SLOW = 'test/policy/proofs.test.ts'
const program = (path) => [process.execPath, `node_modules/${path}`]
const build = [process.execPath, 'scripts/build.js', '--types', '--failpoints', '--if-changed']
const checks = {
  tests: [
    ...program('vitest/vitest.mjs'),
    'run',
    '--maxWorkers=1',
    '--exclude',
    SLOW,
    ...PURE.map((each) => `test/${each}`),
  ],
  lint: [...program('oxlint/bin/oxlint'), '--type-aware', '--deny-warnings'],
  types: [...program('typescript/bin/tsc'), '-p', '.'],
  format: [...program('oxfmt/bin/oxfmt'), '--check'],
  'dead code': [...program('knip/bin/knip.js')],
}

async function run(name, [command, ...args]) {
  const begun = Date.now()
  const child = spawn(command, args, { env: { ...process.env, TEST_BUILD: 'off' }, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const [status] = await once(child, 'close')
  if (status !== 0) process.exitCode = 1
  console.log(`${status === 0 ? '✔' : '✖'} ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`)
  if (status !== 0) console.log(printed)
}

installTools('test')
await run('build', build)
const waiting = Object.entries(checks)
const worker = async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(...next)
}
await Promise.all([worker(), worker()])
