// Writes everything that is generated: what the build makes for itself, and what is kept in the repository. Tests say which file of the
// latter is out of date (test/generated.test.ts, test/documents/rule-pages.test.ts, test/docs/reference.test.ts).
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installTools } from './tools.js'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const run = (env, ...args) => {
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) process.exit(status ?? 1)
}

if (!installTools('test')) process.exit(1)
for (const [script, ...args] of [
  ['validators.js'],
  ['openapi.js', '--types'],
  ['types.js'],
  ['python.js'],
  ['http-reference.js'],
  ['operator-reference.js'],
  ['rules.js'],
])
  run({}, `scripts/${script}`, ...args)
const pages = { UPDATE_PAGES: '1', TEST_BUILD: 'off' }
run(
  pages,
  'node_modules/vitest/vitest.mjs',
  'run',
  '--reporter=dot',
  'test/docs/reference.test.ts',
  'test/examples/packaged-pipelines.test.ts',
)
