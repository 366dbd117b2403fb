/** How the built program starts, in a copy of the package whose directories may be spoiled. Source: performance, "What works", 6. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
/** What the name of kept code ends with. */
const named = (end: string, program = 'cli'): unknown =>
  expect.stringMatching(new RegExp(`^${program}-[0-9a-f]{12}\\.cjs-${process.version}-${process.arch}-${end}\\.bin$`))
const [LINT, LARGE, HELPER] = [named('lint'), named('lint-large'), named('lint', 'helper')]

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-start-'))
  cpSync(join(ROOT, 'bin'), join(home, 'bin'), { recursive: true })
  const program = readdirSync(join(ROOT, 'dist')).filter((name) => name.endsWith('.cjs'))
  for (const name of program) cpSync(join(ROOT, 'dist', name), join(home, 'dist', name))
  cpSync(join(ROOT, 'dist/migrations'), join(home, 'dist/migrations'), { recursive: true })
  for (const name of ['package.json', 'schemas', 'templates'])
    cpSync(join(ROOT, name), join(home, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'))
  mkdirSync(join(home, 'project'))
  writeFileSync(
    join(home, 'project/tool.yaml'),
    'apiVersion: svc/v1\nkind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\nspec: {description: Refunds an order.}\n',
  )
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

function start(
  args: readonly string[],
  more: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): string {
  const env = { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: join(home, 'cache'), ...more }
  return execFileSync(process.execPath, [...before, join(home, 'bin/svc.js'), ...args], {
    cwd: join(home, 'project'),
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Files of a directory; none where there is no directory. */
function filesIn(directory: string): string[] {
  try {
    return readdirSync(join(home, directory))
  } catch {
    return []
  }
}

test('what a command has compiled is kept beside the program, and read at its next start', () => {
  const first = start(['lint', '--json'])
  expect(filesIn('dist/code')).toEqual([LINT])
  const file = join(home, 'dist/code', filesIn('dist/code')[0]!)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { mtimeMs, size } = statSync(file)
  expect(start(['lint', '--json'])).toBe(first)
  expect(statSync(file)).toMatchObject({ mtimeMs, size })
})

test.skipIf(availableParallelism() < 2)(
  'a lint of many files keeps what a lint of few had no use for, and what its threads have compiled',
  () => {
    start(['lint'])
    const tool = readFileSync(join(home, 'project/tool.yaml'), 'utf8')
    for (let at = 0; at < 450; at++)
      writeFileSync(join(home, `project/tool-${at}.yaml`), tool.replace('refund', `refund-${at}`))
    const first = start(['lint', '--json'])
    // A thread has something to keep when it was there before all was done.
    const kept = filesIn('dist/code').sort()
    expect(kept).toEqual(kept.length === 2 ? [LARGE, LINT] : [LARGE, LINT, HELPER])
    const written = (): number[] => kept.map((name) => statSync(join(home, 'dist/code', name)).mtimeMs)
    const before = written()
    expect(start(['lint', '--json', '--rule', 'tool/unused-document=off'])).toBe(first)
    expect(written()).toEqual(before)
  },
)

test('where nothing can be written beside the program, it is kept with the caches of the user', () => {
  writeFileSync(join(home, 'dist/code'), '')
  start(['lint'])
  expect(filesIn('cache/svc/code')).toEqual([LINT])
})

test('places that cannot be looked at are passed over', () => {
  writeFileSync(join(home, 'file'), '')
  writeFileSync(join(home, 'dist/code'), '')
  expect(JSON.parse(start(['lint', '--json'], { XDG_CACHE_HOME: join(home, 'file') }))).toMatchObject({ ok: true })
})

test('what another version left a month ago is forgotten', () => {
  mkdirSync(join(home, 'cache/svc/code'), { recursive: true, mode: 0o700 })
  writeFileSync(join(home, 'dist/code'), '')
  for (const [name, days] of [
    ['old', 31],
    ['new', 29],
  ] as const) {
    const file = join(home, 'cache/svc/code', `cli-${name}.cjs-lint.bin`)
    writeFileSync(file, '')
    const then = Date.now() / 1000 - days * 86_400
    utimesSync(file, then, then)
  }
  start(['lint'])
  expect(filesIn('cache/svc/code').sort()).toEqual([LINT, 'cli-new.cjs-lint.bin'])
})

test('a directory that others can write is neither read nor written', () => {
  mkdirSync(join(home, 'dist/code'))
  chmodSync(join(home, 'dist/code'), 0o777)
  start(['lint'])
  expect(filesIn('dist/code')).toEqual([])
  expect(filesIn('cache/svc/code')).toEqual([LINT])
})

test('what was kept and cannot be used is replaced', () => {
  const first = start(['lint', '--json'])
  const file = join(home, 'dist/code', filesIn('dist/code')[0]!)
  writeFileSync(file, 'nothing that V8 wrote')
  expect(start(['lint', '--json'])).toBe(first)
  expect(statSync(file).size).toBeGreaterThan(100_000)
})

test.each([
  ['help, which compiles next to nothing of its command', ['lint', '--help'], {}],
  ['a start that forbids it', ['lint'], { NODE_DISABLE_COMPILE_CACHE: '1' }],
])('%s keeps nothing', (_, args, env) => {
  start(args, env)
  expect([...filesIn('dist/code'), ...filesIn('cache/svc/code')]).toEqual([])
})

test.each([
  [['--version'], ['bin/svc.js', 'dist/start.cjs']],
  [['lint'], ['bin/svc.js', 'dist/start.cjs']],
  [
    ['policy', 'eval', '--help'],
    ['bin/svc.js', 'dist/start.cjs'],
  ],
])('svc %j reads no file of a package', (args, loaded) => {
  const hook = join(home, 'hook.cjs')
  writeFileSync(
    hook,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(join(home, 'loaded.json'))}, JSON.stringify(Object.keys(require.cache))))`,
  )
  start(args, {}, ['-r', hook])
  const files = JSON.parse(readFileSync(join(home, 'loaded.json'), 'utf8')) as string[]
  expect(files.filter((file) => file !== hook).map((file) => file.slice(home.length + 1))).toEqual(loaded)
})
