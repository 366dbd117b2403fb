// Runs the tests of the project and answers on stdout. The code that runs is the coding agent's: run it in a container.
import { spawnSync } from 'node:child_process'
import { root } from './project.mjs'

const { status, stdout, stderr } = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], {
  cwd: root,
  encoding: 'utf8',
  timeout: 60_000,
})
process.stdout.write(JSON.stringify({ ok: status === 0, report: `${stdout}${stderr}`.slice(-4000) }))
