/**
 * The Python client (clients/python): its own tests against real servers, its types, its package, and the Pythons that this machine has.
 * What is missing is skipped: `apt-get install python3-httpx python3-pytest python3-mypy python3-hatchling python3-fastapi`.
 */
import { execFile, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { removeDirectory } from '../remove-directory.ts'
import { servePython } from './python-servers.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PACKAGE = join(ROOT, 'clients/python')
const home = mkdtempSync(join(tmpdir(), 'svc-python-'))
afterAll(() => removeDirectory(home))

const environment = (env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONPATH: 'src',
  ...env,
})

/** Runs Python while this process goes on serving it. */
const runPython = (python: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = PACKAGE) =>
  new Promise<{ readonly failed: boolean; readonly output: string }>((done) => {
    const settings = { cwd, env: environment(env), maxBuffer: 1 << 26, timeout: 280_000 }
    execFile(python, args, settings, (error, stdout, stderr) =>
      done({ failed: error !== null, output: stdout + stderr }),
    )
  })

const answers = (python: string, code: string, env?: NodeJS.ProcessEnv): boolean =>
  spawnSync(python, ['-c', code], { env: environment(env), cwd: PACKAGE }).status === 0

/** The Python that has these modules. */
const pythonWith = (...modules: readonly string[]): string | undefined =>
  ['python3', '/usr/bin/python3'].find((each) => answers(each, `import ${modules.join(', ')}`))

const python = pythonWith('httpx', 'pytest')
const checker = pythonWith('httpx', 'pytest', 'mypy')
const builder = pythonWith('httpx', 'hatchling')

test.skipIf(python === undefined)(
  'the tests of the Python client pass against real servers (needs python3-httpx and python3-pytest)',
  async () => {
    const env = { SVC_TEST_SERVERS: JSON.stringify(await servePython()) }
    const { failed, output } = await runPython(python!, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'], env)
    expect(failed ? output : '').toBe('')
    expect(output).toMatch(/^\d+ passed/m)
  },
  300_000,
)

test.skipIf(checker === undefined)(
  'it is typed strictly for the oldest Python that it supports, and so is what its pages show (needs python3-mypy)',
  async () => {
    const shown = ['docs/python.md', 'clients/python/README.md'].flatMap((page) =>
      [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```python\n([\s\S]*?)^```$/gm)].map(([, text]) => text!),
    )
    const blocks = shown.map((text, at) => {
      const path = join(home, `block_${at}.py`)
      writeFileSync(path, text)
      return path
    })
    expect(blocks.length).toBeGreaterThan(5)
    const args = ['-m', 'mypy', '--strict', '--python-version', '3.10', '--cache-dir', '/dev/null']
    const examples = join(ROOT, 'examples/python/refund.py')
    expect(await runPython(checker!, [...args, 'src', 'tests', examples, ...blocks])).toEqual({
      failed: false,
      output: expect.stringMatching(/^Success: no issues found/) as unknown,
    })
  },
  300_000,
)

test.skipIf(builder === undefined)(
  'the wheel holds the modules, the mark that they are typed and the licence, and can be imported (needs python3-hatchling)',
  async () => {
    // Another folder: a build leaves nothing in the repository.
    const copy = join(home, 'package')
    cpSync(PACKAGE, copy, { recursive: true, filter: (path) => !/__pycache__|\.(?:mypy|pytest)_cache/.test(path) })
    const built = await runPython(builder!, ['-m', 'hatchling', 'build', '-d', 'out'], {}, copy)
    expect(built.failed ? built.output : '').toBe('')
    const names = ['svc_agents-0.1.0-py3-none-any.whl', 'svc_agents-0.1.0.tar.gz']
    expect(readdirSync(join(copy, 'out')).sort()).toEqual(names)
    const [wheel, sdist] = names.map((name) => join(copy, 'out', name)) as [string, string]
    const list = `import sys, tarfile, zipfile
print(*zipfile.ZipFile(sys.argv[1]).namelist(), "", *tarfile.open(sys.argv[2]).getnames(), sep="\\n")`
    const { output } = await runPython(builder!, ['-c', list, wheel, sdist])
    const [inWheel = '', inSdist = ''] = output.trimEnd().split('\n\n')
    const modules = readdirSync(join(PACKAGE, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.py$|py\.typed$/.test(path),
    )
    const info = ['METADATA', 'RECORD', 'WHEEL', 'licenses/LICENSE'].map((each) => `svc_agents-0.1.0.dist-info/${each}`)
    expect(inWheel.split('\n').sort()).toEqual([...modules, ...info].sort())
    const others = ['LICENSE', 'PKG-INFO', 'README.md', 'pyproject.toml']
    expect(inSdist.split('\n').sort()).toEqual(
      [...modules.map((path) => `src/${path}`), ...others].map((path) => `svc_agents-0.1.0/${path}`).sort(),
    )
    const code = 'import svc_agents; print(svc_agents.__version__, svc_agents.__file__)'
    expect(await runPython(builder!, ['-c', code], { PYTHONPATH: wheel })).toEqual({
      failed: false,
      output: `0.1.0 ${join(wheel, 'svc_agents/__init__.py')}\n`,
    })
  },
)

/** Every Python from 3.10 on: commands, and those that pyenv keeps. */
const pythons = (() => {
  const versions = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions')
  const kept = existsSync(versions) ? readdirSync(versions).map((each) => join(versions, each, 'bin/python3')) : []
  const commands = ['10', '11', '12', '13', '14'].map((minor) => `python3.${minor}`)
  return [...commands, ...kept].filter((each) => answers(each, 'import sys; sys.exit(sys.version_info < (3, 10))'))
})()

test.skipIf(python === undefined || pythons.length === 0)(
  'each half sees a run through with every Python of this machine',
  async () => {
    // What httpx consists of is Python alone, so the others can use that of the first.
    const where = spawnSync(python!, ['-c', 'import httpx; print(httpx.__file__)'], {
      encoding: 'utf8',
      env: environment(),
    })
    const installed = dirname(dirname(where.stdout.trim()))
    const modules = join(home, 'modules')
    mkdirSync(modules)
    for (const name of ['anyio', 'certifi', 'h11', 'httpcore', 'httpx', 'idna', 'rfc3986', 'sniffio'])
      if (existsSync(join(installed, name))) symlinkSync(join(installed, name), join(modules, name))
    const env = { SVC_TEST_SERVERS: JSON.stringify(await servePython()), PYTHONPATH: `src:${modules}` }
    for (const each of pythons)
      expect({ python: basename(each), ...(await runPython(each, ['-m', 'tests.see_through'], env)) }).toEqual({
        python: basename(each),
        failed: false,
        output: expect.stringMatching(/^3\.\d+\n$/) as unknown,
      })
  },
  300_000,
)
