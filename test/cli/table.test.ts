import { describe, expect, test } from 'vitest'
import { exitCodes } from '../../src/cli/shell/exit-codes.ts'
import { globalOptions } from '../../src/cli/shell/global-options.ts'
import { createProgram, parseCommandLine } from '../../src/cli/program.ts'
import { commandTable, commandGroups } from '../../src/cli/table/table.ts'
import { createWorld, svc } from './recording-io.ts'

const world = () => createWorld({ cwd: '/' })

/** Words of a command line, quotes taken off as a shell would. */
const words = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2]!).slice(1)

describe.each(commandTable.map((each) => [each.path, each] as const))('svc %s', (path, spec) => {
  test('says what it does in one line, and how in at least two examples', () => {
    expect(spec.summary).toMatch(/^\S.{5,70}$/)
    expect(spec.summary).not.toMatch(/\.$/)
    expect(spec.examples.length).toBeGreaterThanOrEqual(2)
  })

  test.each(spec.examples)('parses its example: %s', async (example) => {
    const parsed = await parseCommandLine(words(example), world().io)
    expect(parsed).toMatchObject({ spec: { path } })
  })

  test('ends with codes of the table only', () => {
    expect(Object.keys(spec.exits ?? {}).filter((code) => exitCodes[Number(code)] === undefined)).toEqual([])
  })

  test('has a help page of at most 80 columns that names its plane and its examples', async () => {
    const { code, stdout, stderr } = await svc([...path.split(' '), '--help'], { cwd: '/' })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('  svc '))).toEqual([])
    expect(stdout).toContain(`(${spec.plane})`)
    for (const example of spec.examples) expect(stdout).toContain(example)
  })

  test('loads an action', async () => {
    expect(await spec.load()).toBeTypeOf('function')
  })
})

test('no command is listed twice, and each group has some', () => {
  const paths = commandTable.map(({ path }) => path)
  expect(paths).toEqual([...new Set(paths)])
  expect(commandGroups.filter((group) => !commandTable.some((each) => each.group === group))).toEqual([])
})

test('one letter means one thing everywhere', () => {
  const meanings = new Map<string, Set<string>>()
  for (const { flags } of [...globalOptions, ...commandTable.flatMap((each) => each.options ?? [])]) {
    const match = /^-(\w), --([\w-]+)/.exec(flags)
    if (match) meanings.set(match[1]!, (meanings.get(match[1]!) ?? new Set()).add(match[2]!))
  }
  expect([...meanings].filter(([, names]) => names.size > 1)).toEqual([])
})

test('no option of a command hides a global one', () => {
  const names = (flags: string) => flags.split(/[ ,]+/).filter((word) => word.startsWith('-'))
  const global = new Set([...globalOptions.flatMap(({ flags }) => names(flags)), '-h', '--help', '-V'])
  const hidden = commandTable.flatMap(({ path, options = [] }) =>
    options
      .flatMap(({ flags }) => names(flags))
      .filter((name) => global.has(name))
      .map((name) => `${path} ${name}`),
  )
  expect(hidden).toEqual([])
})

test('every command is in the tree that help shows', () => {
  const { root } = createProgram(world().io)
  for (const { path } of commandTable)
    expect(
      path
        .split(' ')
        .reduce((at, word) => at?.commands.find((each) => each.name() === word), root as typeof root | undefined),
    ).toBeDefined()
})

test('svc help --json calls a description `say`', async () => {
  const { stdout } = await svc(['help', '--json'], { cwd: '/' })
  const { commands, globalOptions } = JSON.parse(stdout) as {
    readonly commands: readonly { readonly path: string; readonly arguments: unknown }[]
    readonly globalOptions: readonly unknown[]
  }
  expect([commands.find(({ path }) => path === 'fmt')?.arguments, globalOptions[0]]).toEqual([
    [{ name: '[paths...]', say: 'documents, directories or globs; - reads standard input, writes standard output' }],
    { flags: '-C, --cwd <dir>', say: 'act as if started there' },
  ])
})

test('svc alone begins with the commands of the first hour and fits a small terminal', async () => {
  const { code, stdout } = await svc([], { cwd: '/' })
  expect([code, stdout]).toEqual([
    0,
    `svc runs AI agents whose risky calls wait for approval and happen once.

Start   svc demo                 watch a run stop for approval (no key needed)
        svc init DIR             write a project of your own
        svc dev                  serve it, and deploy each save
        svc run AGENT order=A-1  start a run and follow it
Decide  svc inbox                see what waits for a person, and answer it
        svc approve TASK         let a call run; svc reject TASK refuses it
Look    svc runs list            runs, newest first; svc runs watch RUN
        svc policy explain RUN   why each call was allowed, held or denied
Check   svc lint                 find faults in documents before they run
        svc test                 play scenarios with scripted models
Ship    svc publish --deploy     store a version, and use it for new runs
        svc serve                serve programs and other people

All commands: svc --help, svc help --tree
One command:  svc help COMMAND
`,
  ])
})

test('svc --help goes from the first commands over the groups to the options', async () => {
  const { stdout } = await svc(['--help'], { cwd: '/' })
  const at = (text: string): number => stdout.indexOf(text)
  expect(at('svc demo')).toBeLessThan(at('Author: '))
  expect(at('Operate: ')).toBeLessThan(at('--config <file>'))
  for (const { aliases = [], path } of commandTable)
    for (const alias of aliases) expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`${alias} = ${path}`)
})

test.each([
  ['list', 'svc runs list lists runs, svc agents list agents, svc inbox what waits.'],
  ['start', 'svc run AGENT starts a run, svc dev a server for a project, svc serve one for shared use.'],
])('svc %s names the commands that it could mean', async (word, fix) => {
  const { code, stderr } = await svc([word], { cwd: '/' })
  expect([code, stderr]).toEqual([2, `error[usage]: Unknown command '${word}'.\n  fix:  ${fix}\n`])
})
