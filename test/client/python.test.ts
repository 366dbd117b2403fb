/**
 * The Python client (clients/python): its own tests against real servers, its types, its package and its pages. Needs a Python with httpx
 * and pytest, and mypy for the types: `apt-get install python3-httpx python3-pytest python3-mypy`.
 */
import { execFile, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { servePython } from './python-servers.ts'

const HOME = resolve(import.meta.dirname, '../../clients/python')

/** A Python that has these modules. */
const pythonWith = (...modules: readonly string[]): string | undefined =>
  ['python3', '/usr/bin/python3'].find(
    (each) => spawnSync(each, ['-c', `import ${modules.join(', ')}`], { env: quiet() }).status === 0,
  )

const quiet = (): NodeJS.ProcessEnv => ({ ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: 'src' })

/** Runs Python while this process goes on serving it. */
const runPython = (python: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  new Promise<{ readonly failed: boolean; readonly output: string }>((done) => {
    const settings = { cwd: HOME, env: { ...quiet(), ...env }, maxBuffer: 1 << 26, timeout: 140_000 }
    execFile(python, args, settings, (error, stdout, stderr) =>
      done({ failed: error !== null, output: stdout + stderr }),
    )
  })

const python = pythonWith('httpx', 'pytest')
const checker = pythonWith('httpx', 'pytest', 'mypy')

describe.skipIf(python === undefined)('with python3-httpx and python3-pytest', () => {
  test('the tests of the Python client pass against real servers', async () => {
    const env = { SVC_TEST_SERVERS: JSON.stringify(await servePython()) }
    const { failed, output } = await runPython(python!, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'], env)
    expect(failed ? output : '').toBe('')
    expect(output).toMatch(/^\d+ passed/m)
  })
})

test.skipIf(checker === undefined)(
  'its types are complete, for the oldest Python that it supports (needs python3-mypy)',
  async () => {
    const args = ['-m', 'mypy', '--strict', '--python-version', '3.10', '--cache-dir', '/dev/null', 'src', 'tests']
    expect(await runPython(checker!, args)).toEqual({
      failed: false,
      output: expect.stringMatching(/^Success: no issues found/) as unknown,
    })
  },
)
