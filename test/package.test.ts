import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { ciFiles, PACKAGE_NAME } from '../src/cli/init/ci-files.ts'
import { hasNodeSqlite } from '../src/store/sqlite/database/node-sqlite.ts'
import { SQLITE_PACKAGE } from '../src/store/sqlite/database/connect.ts'
import { bundledLibraries, noticesOf } from '../scripts/notices.js'
import { packPackage } from './packed.ts'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { removeDirectory } from './remove-directory.ts'

const root = resolve(import.meta.dirname, '..')
const home = mkdtempSync(join(tmpdir(), 'svc-package-'))
afterAll(() => removeDirectory(home))

const { files, directory } = packPackage()

test('the package holds what runs and what its user reads, and nothing else', () => {
  const rooms = new Set(files.map((path) => (path.includes('/') ? path.split('/')[0]! : path)))
  expect([...rooms].sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'bin',
    'dist',
    'docs',
    'package.json',
    'schemas',
    'templates',
  ])
  expect(files).toEqual(
    expect.arrayContaining([
      'bin/svc.js',
      'dist/start.js',
      'dist/client.js',
      'docs/man/svc.1',
      'dist/types/client/index.d.ts',
      'dist/migrations/0001-first.sql',
      'dist/migrations/0002-notices.sql',
      'dist/migrations/0003-notice-receipts.sql',
      'dist/migrations/0004-passkeys.sql',
      'templates/monorepo/.github/workflows/agents-comment.yml',
      'templates/monorepo/.github/workflows/agents.yml',
    ]),
  )
  expect(files.filter((path) => /\.(map|log|db|tsbuildinfo)$|\/\.svc\//.test(path))).toEqual([])
  const templates = files.flatMap((path) => /^templates\/([^/]+)\/README\.md$/.exec(path)?.[1] ?? [])
  expect(templates.sort()).toEqual([
    'analyst',
    'blank',
    'coder',
    'intake',
    'invoices',
    'monorepo',
    'refund',
    'report',
    'research',
    'starter',
    'support',
  ])
})

test('nothing in it names the machine on which it was built', () => {
  const naming = files.filter((path) => {
    const text = readFileSync(join(directory, path), 'latin1')
    return text.includes(root) || /sourceMappingURL=(?!data:application\/json;base64,\$)[\w./-]/.test(text)
  })
  expect(naming).toEqual([])
})

test('nothing shipped, documented or generated installs the name svc, which belongs to another project', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'docs', 'examples'].flatMap((path) =>
    statSync(join(root, path)).isFile()
      ? path
      : readdirSync(join(root, path), { recursive: true, withFileTypes: true })
          .filter((each) => each.isFile())
          .map((each) => relative(root, join(each.parentPath, each.name))),
  )
  const texts = [
    ...pages.map((path) => [path, readFileSync(join(root, path), 'utf8')] as const),
    ...files.map((path) => [path, readFileSync(join(directory, path), 'utf8')] as const),
    ...(['github', 'gitlab'] as const).flatMap((host) =>
      ciFiles(host, { policies: true, scenarios: true }).map(({ path, text }) => [path, text] as const),
    ),
  ]
  expect(texts.flatMap(([path, text]) => namesBarePackage(text).map((found) => `${path}: ${found}`))).toEqual([])
  expect(ciFiles('github', { policies: true, scenarios: true }).at(-1)!.text).toContain(`"${PACKAGE_NAME}": `)
})

test.each([
  'npm i -g svc',
  'npm install --global svc@1',
  'npm i -D chalk svc',
  'pnpm add svc',
  'npx svc lint',
  'npx -y svc',
  '"devDependencies": { "svc": "1.0.0" }',
  "import { SvcClient } from 'svc/client'",
])('"%s" would install or import it', (line) => {
  expect(namesBarePackage(line)).toHaveLength(1)
})

function namesBarePackage(text: string): string[] {
  const found = text.matchAll(
    /\b(?:npm|pnpm|yarn|bun) +(?:i|install|add|exec|x|update)\b(?:[ ]+[\w@./=^~-]+)*?[ ]+svc\b(?![/.-])|\bnpx +(?!--no\b)(?:-+\w+ +)*svc\b|['"]svc['"]: *['"][\d^~*]|from ['"]svc(?:\/client)?['"]/g,
  )
  return [...found].map(([match]) => match)
}

test('every module that the program loads while it runs is one that is installed with it', () => {
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>
  const installed = new Set(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
  const loaded = new Set(
    files
      .filter((path) => /^dist\/.*\.c?js$/.test(path))
      .flatMap((path) => loadedModules(readFileSync(join(directory, path), 'utf8'))),
  )
  expect(loaded).toContain('re2js')
  expect([...loaded].filter((name) => !installed.has(name) && !isBuiltin(name)).sort()).toEqual([])
})

test.each([
  ['import a from"ajv/dist/x.js"', 'ajv'],
  ['await import("@scope/name/deep")', '@scope/name'],
  ['createRequire(import.meta.url)("re2js").RE2JS', 're2js'],
  ['import"./chunks/x.js"', undefined],
  // The text of a module that ajv would write.
  ['code=\'require("ajv/dist/runtime/equal").default\'', undefined],
])('%s loads %s', (text, name) => {
  expect(loadedModules(text)).toEqual(name === undefined ? [] : [name])
})

/** Packages whose modules a built file imports or requires. */
function loadedModules(text: string): string[] {
  const found = text.matchAll(
    /(?:(?<![\w.$])(?:from|import) ?|(?<![\w.$])import\(|(?<!['"`])\brequire\(|Require\(import\.meta\.url\)\()"((?:@[\w.-]+\/)?[a-z][\w.:-]*)(?:\/[\w./-]+)?"/g,
  )
  return [...found].map(([, name]) => name!)
}

test('the notices name each library in the bundle with the version and licence that are locked', () => {
  const notices = readFileSync(join(directory, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8')
  const titles = [...notices.matchAll(/^-{80}\n\n(\S+) (\S+) \(([^)]+)\)\n\n(?=\S)/gm)].map(
    ([, name, version, license]) => `${name} ${version} ${license}`,
  )
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; license: string }>
  }
  const locked = Object.entries(packages).map(
    ([path, { version, license }]) => `${path.replace(/^.*node_modules\//, '')} ${version} ${license}`,
  )
  expect(titles.filter((title) => !locked.includes(title))).toEqual([])
  // Each is needed at every start, so it is in the bundle.
  for (const name of ['commander', 'yaml', 'chalk', 'ajv'])
    expect(titles.filter((title) => title.startsWith(`${name} `))).toHaveLength(1)
})

test('a build stops at a library whose licence is unknown', () => {
  const library = join(home, 'licences/node_modules/odd')
  mkdirSync(library, { recursive: true })
  writeFileSync(join(home, 'licences/LICENSE'), 'MIT License\n\nCopyright (c) us\n\nPermission\n')
  const metafile = { outputs: { 'a.js': { inputs: { 'node_modules/odd/index.js': { bytesInOutput: 1 } } } } }
  const make = (text: object) => {
    writeFileSync(join(library, 'package.json'), JSON.stringify({ name: 'odd', version: '1.0.0', ...text }))
    return noticesOf(bundledLibraries([metafile], join(home, 'licences')))
  }
  expect(() => make({})).toThrow('odd 1.0.0 names no licence in its package.json.')
  expect(() => make({ license: 'EPL-2.0' })).toThrow('odd 1.0.0 (EPL-2.0) holds no licence text.')
  expect(make({ license: 'MIT', author: { name: 'Ana' } })).toContain(
    'odd 1.0.0 (MIT)\n\nMIT License\n\nCopyright (c) Ana\n\nPermission\n',
  )
  writeFileSync(join(library, 'license.md'), 'Their text\r\n')
  expect(make({ license: 'EPL-2.0' })).toContain('odd 1.0.0 (EPL-2.0)\n\nTheir text\n')
  const unused = { outputs: { 'a.js': { inputs: { 'node_modules/gone/index.js': { bytesInOutput: 0 } } } } }
  expect(noticesOf(bundledLibraries([unused], join(home, 'licences')))).toBe(
    'The program contains code of these libraries. Each is followed by its licence.\n',
  )
})

test('the package cannot be published by accident', () => {
  const { name, private: isPrivate } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    name: string
    private?: boolean
  }
  expect({ name, isPrivate }).toEqual({ name: PACKAGE_NAME, isPrivate: true })
})

test('what the package declares is what it holds', async () => {
  const { messages, pkg } = await publint({ pkgDir: directory, pack: false })
  expect(messages.map((each) => formatMessage(each, pkg!, { color: false }))).toEqual([])
})

describe('installed without optional packages, so without their SQLite', () => {
  const DRIVERS = ['better-sqlite3', SQLITE_PACKAGE.split('/')[0]!]
  const modules = join(home, 'node_modules')
  const project = join(home, 'desk')
  const svc = (args: readonly string[], cwd = project) => {
    const { PATH, LANG } = process.env
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [join(modules, '@svc-agents/cli/bin/svc.js'), ...args],
      {
        cwd,
        env: { PATH, LANG, HOME: home },
        encoding: 'utf8',
      },
    )
    return { status, stdout, stderr }
  }

  beforeAll(() => {
    const installed = join(modules, '@svc-agents/cli')
    cpSync(directory, installed, { recursive: true, filter: (path) => path !== join(directory, 'node_modules') })
    for (const name of readdirSync(join(directory, 'node_modules')))
      if (!DRIVERS.includes(name) && !name.startsWith('.'))
        symlinkSync(join(directory, 'node_modules', name), join(modules, name))
    svc(['init', 'desk', '--full'], home)
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
    ['a module', 'client.mjs', "import { SvcClient } from '@svc-agents/cli/client'"],
    ['a CommonJS program', 'client.cjs', "const { SvcClient } = require('@svc-agents/cli/client')"],
  ])('%s takes the client from it', (_, name, first) => {
    writeFileSync(join(home, name), `${first}\nconsole.log(SvcClient.name)\n`)
    const { stdout, stderr } = spawnSync(process.execPath, [join(home, name)], { encoding: 'utf8' })
    expect({ stdout, stderr }).toEqual({ stdout: 'SvcClient\n', stderr: '' })
  })

  const isMissing = !hasNodeSqlite(process.versions.node)
  const fix = 'npm install --include=optional'

  test.runIf(isMissing)('svc doctor says what is missing, and the command that mends it', () => {
    const { status, stdout, stderr } = svc(['doctor', 'sqlite'])
    expect(status).toBe(1)
    expect(stdout + stderr).toMatch(/SQLite cannot be loaded/)
    expect(stdout + stderr).toContain(fix)
  })

  test.runIf(isMissing)('what needs it says so instead of showing a stack', () => {
    const { status, stdout, stderr } = svc(['publish'])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(new RegExp(`error\\[native_sqlite_missing\\].*\\n(?:.*\\n)*? *fix: +${fix}\\n`))
  })

  test.runIf(!isMissing)('what needs it uses the SQLite of Node', () => {
    expect(svc(['doctor', 'sqlite', '--json'])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('(node:sqlite)') as unknown,
    })
    const { status, stderr } = svc(['test'])
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  })
})
