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
  const filter = '[.commands[] | select(.path == "fmt")][0].arguments, .globalOptions[0]'
  const { stdout } = await svc(['help', '--jq', filter], { cwd: '/' })
  expect(stdout).toBe(
    [
      '[{"name":"[paths...]","say":"documents, directories or globs; - reads standard input, writes standard output"}]',
      '{"flags":"-C, --cwd <dir>","say":"act as if started there"}',
      '',
    ].join('\n'),
  )
})
