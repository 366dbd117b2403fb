import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

/** The drawing of `src/README.md`: a directory's floor. Rooms on one floor do not import each other. */
const FLOORS: Readonly<Record<string, number>> = {
  base: 0,
  spec: 1,
  operations: 2,
  view: 3,
  policy: 4,
  store: 4,
  blobs: 4,
  queue: 4,
  providers: 4,
  tools: 4,
  client: 4,
  terminal: 4,
  documents: 5,
  authority: 5,
  engine: 5,
  compile: 6,
  import: 6,
  server: 6,
  lsp: 7,
  scenario: 7,
  cli: 8,
  console: 8,
}

/** The rooms of a floor, lowest first; `.` stands for its loose files. A room imports from itself and from those before it. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: ['values', 'text', 'failures', 'json', 'pattern', 'net', '.', 'files'],
  blobs: ['.', 'local'],
  cli: [
    'shell',
    'files',
    'project',
    'init',
    'reports',
    'login',
    'release',
    'trust',
    'gateway',
    'runs',
    'doctor',
    'policy',
    'answers',
    'dev',
    'eval',
    'lint',
    'commands',
    'table',
    '.',
  ],
  console: [
    'wire',
    'parts',
    'passkey',
    'card',
    'bulk',
    'timeline',
    'policy',
    'steer',
    'graph',
    'what-if',
    'views',
    '.',
  ],
  compile: ['state', 'package', 'stages', '.', 'diff', 'edit'],
  documents: ['generated', 'text', 'edit', 'workspace', 'fmt', 'schemas', 'facts', 'rules', 'lint', 'report', 'lsp'],
  engine: [
    'session',
    'transaction',
    'prompt',
    'capacity',
    'review',
    'limits',
    'calls',
    'machine',
    'interface',
    'effects',
    'drive',
    'client',
    '.',
  ],
  import: ['.', 'agents', 'mcp', 'formats'],
  policy: ['condition', '.', 'prove', 'explain', 'replay'],
  providers: ['reading', '.', 'openai', 'anthropic', 'gemini', 'bedrock', 'prices', 'registry'],
  server: [
    'generated',
    'log',
    'metrics',
    'telemetry',
    'http',
    'peers',
    'notify',
    'sign-in',
    'runtime',
    'fork',
    'view',
    'auth',
    'acts',
    'routes',
    'doors',
    'mcp',
    'operator',
    'console',
    '.',
  ],
  spec: ['steer', 'people', '.', 'run', 'project', 'chain', 'trust'],
  store: ['.', 'rows', 'nouns', 'sqlite', 'postgres', 'copy'],
  tools: ['generated', 'check', 'openapi', '.', 'oauth', 'mcp', 'routes'],
  view: ['task', '.'],
}

const SRC = resolve(import.meta.dirname, '../src')
const IMPORT = /(from|import)\s*(\(?)\s*'(\.{1,2}\/[^']+)'/g

const files = (directory: string): string[] =>
  readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    return statSync(path).isDirectory() ? files(path) : /\.tsx?$/.test(path) ? [path] : []
  })

const roomOf = (path: string): string => relative(SRC, path).split(/[/\\]/)[0]!

/** The package of the client library, which imports nothing from `src`. */
const CLIENT = resolve(SRC, '../clients/typescript/src')

const importsBelow = (directory: string) =>
  files(directory).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(IMPORT)].map((match) => ({
      from: path,
      to: resolve(dirname(path), match[3]!),
      lazy: match[2] === '(',
    })),
  )
const isOfClient = ({ to }: { to: string }) => to.startsWith(CLIENT)
const all = importsBelow(SRC)
const imports = all.filter((each) => !isOfClient(each))
const clientImports = importsBelow(CLIENT)

const show = ({ from, to }: { from: string; to: string }) => `${relative(SRC, from)} -> ${relative(SRC, to)}`

test('every directory of src has a floor', () => {
  const unknown = readdirSync(SRC).filter(
    (name) => statSync(join(SRC, name)).isDirectory() && FLOORS[name] === undefined,
  )
  expect(unknown).toEqual([])
})

test('nothing lies loose in src but the entry, which nobody inside imports', () => {
  expect(readdirSync(SRC).filter((name) => /\.tsx?$/.test(name))).toEqual(['index.ts'])
  expect(imports.filter(({ to }) => to === join(SRC, 'index.ts')).map(show)).toEqual([])
})

test('a module imports from its own directory or from a lower floor', () => {
  const wrong = imports.filter(({ from, to }) => {
    const [here, there] = [roomOf(from), roomOf(to)]
    if (here === 'index.ts' || here === there) return false
    return FLOORS[there] === undefined || FLOORS[there] >= FLOORS[here]!
  })
  expect(wrong.map(show)).toEqual([])
})

test('the client library imports nothing from src; src/client imports it, and spec its types of bodies', () => {
  expect(clientImports.filter((each) => !isOfClient(each)).map(show)).toEqual([])
  expect(new Set(all.filter(isOfClient).map(show))).toEqual(
    new Set([
      'client/index.ts -> ../clients/typescript/src/index.ts',
      'client/index.ts -> ../clients/typescript/src/tasks.ts',
      'spec/api.ts -> ../clients/typescript/src/generated/api.ts',
    ]),
  )
})

/** The room of a file inside its floor. */
const innerRoomOf = (path: string): string => {
  const [, room, ...below] = relative(SRC, path).split(/[/\\]/)
  return below.length > 0 ? room! : '.'
}

test('every folder of a floor has a place among its rooms', () => {
  const rooms = files(SRC).map((path) => [roomOf(path), innerRoomOf(path)] as const)
  const unknown = rooms.filter(([floor, room]) => room !== '.' && ROOMS[floor]?.includes(room) !== true)
  expect([...new Set(unknown.map((each) => each.join('/')))]).toEqual([])
})

test('inside a floor, rooms import one way', () => {
  const wrong = imports.filter(({ from, to }) => {
    const floor = roomOf(from)
    const [here, there] = [innerRoomOf(from), innerRoomOf(to)]
    if (roomOf(to) !== floor || here === there) return false
    const order = ROOMS[floor] ?? []
    return order.indexOf(there) > order.indexOf(here)
  })
  expect(wrong.map(show)).toEqual([])
})

/** The table of commands names the files of all commands, some of which print the table. */
const isOfCommandTable = (path: string): boolean =>
  relative(SRC, path).split(/[/\\]/).slice(0, 2).join('/') === 'cli/table'

interface ModuleImport {
  readonly from: string
  readonly to: string
  readonly lazy: boolean
}

/** Circles among imports, those that are loaded when they are needed too. */
function findCycles(imported: readonly ModuleImport[]): readonly string[] {
  const graph = new Map<string, string[]>()
  for (const { from, to, lazy } of imported)
    if (!lazy || !isOfCommandTable(from)) graph.set(from, [...(graph.get(from) ?? []), to])
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path))
      cycles.push([...trail.slice(trail.indexOf(path)), path].map((each) => relative(SRC, each)).join(' -> '))
    if (done.has(path) || trail.includes(path)) return
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) visit(path, [])
  return cycles
}

test('no module imports itself through others', () => {
  expect(findCycles([...imports, ...clientImports])).toEqual([])
})

test('a circle is found where an import is loaded when it is needed', () => {
  const [a, b] = [join(SRC, 'cli/a.ts'), join(SRC, 'cli/b.ts')]
  const circle = [
    { from: a, to: b, lazy: true },
    { from: b, to: a, lazy: false },
  ]
  expect(findCycles(circle)).toEqual([['cli/a.ts', 'cli/b.ts', 'cli/a.ts'].join(' -> ')])
})
