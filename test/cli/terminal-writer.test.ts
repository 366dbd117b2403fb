/** Text from outside has no effect on a terminal, whichever command shows it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { escapeForTerminal, guardSink, STYLE_SEQUENCES } from '../../src/terminal/terminal-writer.ts'
import { createTheme } from '../../src/terminal/theme.ts'
import { going, svc as runSvc, temporary, type Going, type Ran } from './recording-io.ts'

/** What a terminal obeys, hides or reorders: title, conceal, 8-bit control, direction, no width, tag letter, carriage return. */
const HOSTILE = 'x\u001b]0;owned\u0007\u001b[8m\u009b31m\u202egnp\u2069\u200b\u{e0041}\ry'
const OBEYED = new RegExp(
  String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\u{e0000}-\u{e007f}]`,
  'u',
)

const withoutStyles = (text: string): string =>
  STYLE_SEQUENCES.reduce((rest, sequence) => rest.replaceAll(sequence, ''), text)

describe('the writer of a terminal', () => {
  const written = (text: string, isTTY: boolean): string => {
    let all = ''
    guardSink({ isTTY, width: 80, write: (given) => void (all += given) }).write(text)
    return all
  }
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom(HOSTILE, '\u001b[', '\u009b', '\u001b', '31', 'm', '8m', '\r\n', '\r', '\n', '\t', '\ud800'),
      fc.constantFrom(...STYLE_SEQUENCES),
      fc.string({ unit: 'binary' }),
    ),
  )

  test('lets no control through but line breaks, tabs and styles of the theme', () => {
    fc.assert(fc.property(pieces, (parts) => !OBEYED.test(withoutStyles(written(parts.join(''), true)))))
  })

  test('writes JSON that says the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), pieces, (value, parts) => {
        const all = { value, text: parts.join('') }
        const text = written(JSON.stringify(all, null, 2), true)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(all)))
        expect(withoutStyles(text)).not.toMatch(OBEYED)
      }),
    )
  })

  test('changes nothing on the way to a pipe', () => {
    expect(written(HOSTILE, false)).toBe(HOSTILE)
  })

  test('knows the styles of the theme and no others', () => {
    const used = new Set<string>()
    for (const level of [1, 2, 3] as const)
      for (const style of Object.values(createTheme(level)))
        for (const [sequence] of style('x').matchAll(new RegExp(String.raw`\x1b\[[\d;]*m`, 'g'))) used.add(sequence)
    expect([...used].sort()).toEqual([...STYLE_SEQUENCES].sort())
    expect(escapeForTerminal('\u001b[8mhidden\u001b[30m')).toBe('\\u001b[8mhidden\\u001b[30m')
  })
})

test('only the writer and what draws its own text reach the streams of the process', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  const naming = (pattern: RegExp): string[] =>
    sources.filter((file) => pattern.test(readFileSync(join('src', file), 'utf8'))).sort()
  expect(naming(/process\.std(?:out|err)\.write|\{[^}]*\bstderr\b[^}]*\} = process\b/)).toEqual([
    'cli/shell/process-io.ts', // the streams behind the writer, and the pager
    'cli/shell/prompts/plain-prompts.ts', // questions that `guardTerminal` has escaped
    'cli/shell/screen/typed-keys.ts',
    'cli/start.ts', // nothing: flushes
  ])
  expect(naming(/\brawSinkOf\b/)).toEqual([
    'terminal/full-screen.ts',
    'terminal/screen.ts',
    'terminal/terminal-writer.ts',
  ])
})

describe('with text of others in a store', () => {
  const { path: parent, remove } = temporary()
  const cwd = join(parent, 'desk')
  const AGENT = 'acme.assistant'
  let server: Going
  let run = ''
  const svc = (argv: readonly string[], tty = false): Promise<Ran> =>
    runSvc(argv, { cwd, tty, ...(tty && { env: { CI: '1' } }) })

  beforeAll(async () => {
    await runSvc(['init', 'desk', '-t', 'blank'], { cwd: parent })
    await svc(['publish', '--deploy'])
    await svc(['triggers', 'create', AGENT, '--type', 'api'])
    server = going(['serve', '--port', '0', '--json'], { cwd })
    await server.line(/"ready"/)
    const started = await svc(['run', AGENT, `question=${HOSTILE}`, '--json'])
    expect(started.stderr).not.toContain('error')
    run = (JSON.parse(started.stdout) as { runId: string }).runId
    expect(run).not.toBe('')
    await svc(['sessions', 'set', '@last', '--title', HOSTILE])
    const paused = await svc(['agents', 'pause', AGENT, '--reason', HOSTILE])
    expect(paused.code).toBe(0)
  })

  afterAll(async () => {
    await server.end()
    remove()
  })

  /** A line for each command that shows text of others; each is tried as it is and with `--json`. */
  const shown: readonly (() => readonly string[])[] = [
    () => ['doctor', 'paused'],
    () => ['runs', 'scenario', run],
    () => ['runs', 'get', run],
    () => ['runs', 'list'],
    () => ['runs', 'steps', run],
    () => ['runs', 'calls', run],
    () => ['runs', 'conversation', run],
    () => ['stream', run],
    () => ['sessions', 'list'],
    () => ['sessions', 'show', '@last'],
    () => ['agents', 'list'],
    () => ['agents', 'show', AGENT],
    () => ['logs'],
    () => ['api', 'GET', `/v1/runs/${run}`],
    () => ['api', 'GET', `/v1/runs/${run}/steps`],
    () => ['api', 'GET', `/v1/runs/${run}/stream`],
    () => ['api', '--include', 'GET', `/v1/runs/${run}`],
    () => ['run', AGENT, `question=${HOSTILE}`],
    () => ['deploy', HOSTILE],
    () => [HOSTILE],
  ]

  test('no command lets any of it reach a terminal', async () => {
    for (const argv of shown)
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await svc([...argv(), ...more], true)
        expect([argv()[0], stdout.match(OBEYED), stderr.match(OBEYED)]).toEqual([argv()[0], null, null])
      }
  })

  test('JSON on a terminal is JSON still, and says the reason as it was given', async () => {
    const read = async (tty: boolean): Promise<unknown> =>
      JSON.parse((await svc(['doctor', 'paused', '--json'], tty)).stdout)
    expect(await read(true)).toEqual(await read(false))
    expect(JSON.stringify(await read(false))).toContain('owned')
  })
})
