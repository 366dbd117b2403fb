import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const home = mkdtempSync(join(tmpdir(), 'svc-package-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** The package as npm writes it. Without scripts: `prepare` would build what other tests are running. */
let files: readonly string[]
beforeAll(() => {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', home], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ filename: string; files: { path: string }[] }]
  files = packed.files.map(({ path }) => path)
  execFileSync('tar', ['-xzf', join(home, packed.filename), '-C', home])
})

test('the package holds what runs and what its user reads, and nothing else', () => {
  const rooms = new Set(files.map((path) => (path.includes('/') ? path.split('/')[0]! : path)))
  expect([...rooms].sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'package.json',
    'schemas',
    'templates',
  ])
  expect(files).toEqual(
    expect.arrayContaining([
      'bin/svc.js',
      'dist/start.js',
      'dist/client.js',
      'dist/types/client/index.d.ts',
      'dist/migrations/0001-first.sql',
      'templates/monorepo/.github/workflows/agents.yml',
    ]),
  )
  expect(files.filter((path) => /\.(map|log|db|tsbuildinfo)$|\/\.svc\//.test(path))).toEqual([])
  const templates = files.flatMap((path) => /^templates\/([^/]+)\/README\.md$/.exec(path)?.[1] ?? [])
  expect(templates.sort()).toEqual(['blank', 'intake', 'monorepo', 'refund', 'report', 'research', 'support'])
})

test('nothing in it names the machine on which it was built', () => {
  const naming = files.filter((path) => {
    const text = readFileSync(join(home, 'package', path), 'latin1')
    return text.includes(root) || /sourceMappingURL=(?!data:application\/json;base64,\$)[\w./-]/.test(text)
  })
  expect(naming).toEqual([])
})

test('what the package declares is what it holds', async () => {
  const { messages, pkg } = await publint({ pkgDir: root, pack: false })
  expect(messages.map((each) => formatMessage(each, pkg!, { color: false }))).toEqual([])
})

describe('installed without install scripts, so without the native part of SQLite', () => {
  const modules = join(home, 'node_modules')
  const project = join(home, 'desk')
  const svc = (args: readonly string[], cwd = project) => {
    const { PATH, LANG } = process.env
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(modules, 'svc/bin/svc.js'), ...args], {
      cwd,
      env: { PATH, LANG, HOME: home },
      encoding: 'utf8',
    })
    return { status, stdout, stderr }
  }

  beforeAll(() => {
    mkdirSync(modules)
    for (const name of readdirSync(join(root, 'node_modules')))
      if (!name.startsWith('.') && !name.startsWith('better-sqlite3'))
        symlinkSync(join(root, 'node_modules', name), join(modules, name))
    const from = join(root, 'node_modules/better-sqlite3')
    cpSync(from, join(modules, 'better-sqlite3'), {
      recursive: true,
      filter: (path) => !['build', 'deps', 'src'].some((room) => path === join(from, room)),
    })
    cpSync(join(home, 'package'), join(modules, 'svc'), { recursive: true })
    svc(['init', 'desk'], home)
  })

  test.each([
    'lint --max-warnings 0',
    'fmt --check',
    'compile',
    'compile --check',
    'policy test --coverage 90',
    'policy eval --tool acme.orders.lookup --args {"order":"A-1"} --expect allow',
    'bundle tree',
    'bundle pack -o desk.tgz',
    'bundle verify desk.tgz',
    'bundle diff desk.tgz .',
    'schema agent',
    'explain tool/unresolved',
    'openapi',
    'version --json',
  ])('svc %s works', (line) => {
    const { status, stderr } = svc(line.split(' '))
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  })

  test.each([
    ['a module', 'client.mjs', "import { SvcClient } from 'svc/client'"],
    ['a CommonJS program', 'client.cjs', "const { SvcClient } = require('svc/client')"],
  ])('%s takes the client from it', (_, name, first) => {
    writeFileSync(join(home, name), `${first}\nconsole.log(SvcClient.name)\n`)
    const { stdout, stderr } = spawnSync(process.execPath, [join(home, name)], { encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: 'SvcClient\n', stderr: '' })
  })

  test('svc doctor says what is missing, and the command that mends it', () => {
    const { status, stdout, stderr } = svc(['doctor', 'sqlite'])
    expect(status).toBe(1)
    expect(stdout + stderr).toMatch(/without its native part/)
    expect(stdout + stderr).toMatch(/npm rebuild better-sqlite3/)
  })

  test('what needs it says so instead of showing a stack', () => {
    const { status, stdout, stderr } = svc(['publish'])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    const fix =
      Number.parseInt(process.versions.node) < 22 ? 'npm rebuild better-sqlite3' : 'npm install --include=optional'
    expect(stderr).toMatch(new RegExp(`error\\[native_sqlite_missing\\].*\\n(?:.*\\n)*? *fix: +${fix}\\n`))
  })
})
