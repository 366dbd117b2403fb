import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runCommandLine } from '../../src/cli/main.ts'
import { createWorld, svc, temporary } from './recording-io.ts'

const { path: cwd, remove } = temporary()
afterAll(remove)

test('svc alone prints a short help on stdout and succeeds', async () => {
  const { code, stdout, stderr } = await svc([], { cwd })
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^Start {3}svc demo {2,}watch a run stop for approval/m)
})

test.each([['-V'], ['--version']])('%s prints only the version', async (flag) => {
  expect(await svc([flag], { cwd })).toMatchObject({ code: 0, stdout: '0.0.0-source\n', stderr: '' })
})

test('a group alone shows what it holds', async () => {
  const { code, stdout } = await svc(['keys'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain('create')
})

describe('a mistyped command line ends with 2 and says what was meant', () => {
  test.each([
    [['lnt'], "error[usage]: Unknown command 'lnt'.\n  fix:  did you mean lint?\n"],
    [['keys', 'creat'], "error[usage]: Unknown command 'creat'.\n  fix:  did you mean create?\n"],
    [['lint', '--formt', 'json'], "error[usage]: Unknown option '--formt'.\n  fix:  did you mean --format?\n"],
    [
      ['deploy'],
      "error[usage]: Missing required argument 'agent'.\n  fix:  for example  svc deploy acme.refund-desk@1.2.0   svc deploy --help describes it.\n",
    ],
    [
      ['version', 'x'],
      "error[usage]: Too many arguments for 'version'. Expected 0 arguments but got 1.\n  fix:  svc version --help describes it.\n",
    ],
    [
      ['init', '--template', 'refnd'],
      'error[usage]: There is no template "refnd".\n  fix:  Did you mean refund? svc init --list\n',
    ],
    [
      ['lint', '--format', 'xml'],
      "error[usage]: Option '--format <format>' argument 'xml' is invalid. Allowed choices are text, json, sarif, github, gitlab, junit, compact.\n  fix:  svc lint --help describes it.\n",
    ],
    [['version', '--timeout', 'soon'], 'error[usage]: --timeout takes a duration such as 30s or 5m, not "soon".\n'],
  ])('%j', async (argv, stderr) => {
    expect(await svc(argv, { cwd })).toEqual({ code: 2, stdout: '', stderr, asked: [] })
  })

  test('with --json the error is one line and stdout stays empty', async () => {
    const { code, stdout, stderr } = await svc(['init', '--template', 'refnd', '--json'], { cwd })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(
      '{"error":{"code":"usage","message":"There is no template \\"refnd\\".","hint":"Did you mean refund? svc init --list"}}\n',
    )
  })
})

test.each([[['--json', 'version']], [['version', '--json']]])(
  'global options stand before or after the command: %j',
  async (argv) => {
    const { stdout } = await svc(argv, { cwd })
    expect(Object.keys(JSON.parse(stdout) as object)).toEqual(['svc', 'node', 'platform', 'arch'])
  },
)

test('--fields keeps the named fields and --jq filters with jq; both imply --json', async () => {
  expect(JSON.parse((await svc(['version', '--fields', 'svc'], { cwd })).stdout)).toEqual({ svc: '0.0.0-source' })
  expect((await svc(['version', '--jq', '.svc, (.node | type)'], { cwd })).stdout).toBe('"0.0.0-source"\n"string"\n')
})

test('an invalid jq expression is a usage error', async () => {
  const { code, stdout, stderr } = await svc(['version', '--jq', '.['], { cwd })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/"code":"usage","message":"--jq: /)
})

test('a page of help lists the exit codes', async () => {
  const { code, stdout } = await svc(['help', 'exit-codes'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toContain(
    '   3  waiting for a person\n      the run is paused and this process may not or cannot answer\n',
  )
})

test('help for what does not exist ends with 5 and names what is near', async () => {
  expect(await svc(['help', 'exit-code'], { cwd })).toMatchObject({ code: 5, stdout: '' })
  expect((await svc(['help', 'exit-code'], { cwd })).stderr).toContain('Did you mean svc help exit-codes?')
})

test('help --json lists every command as data', async () => {
  const { stdout } = await svc(['help', '--json'], { cwd })
  const { commands } = JSON.parse(stdout) as { commands: { path: string; plane: string }[] }
  expect(commands.find(({ path }) => path === 'keys create')).toMatchObject({ plane: 'operator' })
})

test('a bug ends with 70, one line, and a report that holds no arguments', async () => {
  const world = createWorld({ cwd, env: { XDG_STATE_HOME: cwd }, clock: { now: () => 0, monotonic: () => 0 } })
  const broken = {
    ...world.io,
    stdout: {
      ...world.io.stdout,
      write: () => {
        throw new Error('the wall fell')
      },
    },
  }
  expect(await runCommandLine(['version', '--fields', 'swordfish', '--json'], broken)).toBe(70)
  const report = join(cwd, 'svc', 'crash-1970-01-01T00-00-00.000Z.txt')
  expect(world.stderr()).toBe(`{"error":{"code":"internal","message":"the wall fell","docs":"${report}"}}\n`)
  expect(readFileSync(report, 'utf8')).toContain('Error: the wall fell')
  expect(readFileSync(report, 'utf8')).not.toContain('swordfish')
})
