/** The real binary on a pseudo terminal, as a person has it. Needs `script` of util-linux. */
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyExample, deploy, serveHere, svc, svcJson, type Project, type RunningServer } from '../e2e/binary.ts'
import { resolve } from 'node:path'

const BIN = resolve(import.meta.dirname, '../../bin/svc.js')
const hasScript = spawnSync('script', ['--version']).status === 0

interface Terminal {
  /** Resolves once the text was drawn, as often as is said. */
  readonly shows: (text: string, times?: number) => Promise<void>
  readonly type: (keys: string) => void
  readonly ended: Promise<{ readonly code: number | null; readonly screen: string }>
}

function open(args: readonly string[], cwd: string, extra: Readonly<Record<string, string>> = {}): Terminal {
  const command = ['stty', 'cols', '100', 'rows', '60;', process.execPath, BIN, ...args].join(' ')
  const { CI: _ci, ...env } = process.env
  const child: ChildProcessWithoutNullStreams = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { PATH: env['PATH'], HOME: env['HOME'], TERM: 'xterm', NO_COLOR: '1', ...extra },
  })
  let screen = ''
  const watchers = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += stripVTControlCharacters(text).replaceAll('\r', '')
    watchers.forEach((look) => look())
  })
  const ended = new Promise<{ code: number | null; screen: string }>((done) =>
    child.on('close', (code) => done({ code, screen })),
  )
  return {
    ended,
    type: (keys) => void child.stdin.write(keys),
    shows: (text, times = 1) =>
      new Promise((seen, missed) => {
        const look = (): void => {
          if (screen.split(text).length <= times) return
          watchers.delete(look)
          seen()
        }
        watchers.add(look)
        look()
        void ended.then(() => missed(new Error(`The screen never showed "${text}":\n${screen}`)))
      }),
  }
}

/** A person's pause between two keys: without one, what arrives is no key that somebody pressed. */
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

describe.skipIf(!hasScript)('on a terminal', () => {
  let project: Project
  let server: RunningServer

  beforeAll(async () => {
    project = copyExample('refund')
    await deploy(project, 'acme.refund-desk')
    server = await serveHere(['--data', project.data], { cwd: project.directory })
  })

  afterAll(async () => {
    await server.stop()
    project.remove()
  })

  const start = ['run', 'acme.refund-desk', 'order=A-1042', 'amount:=180']

  /** Approves a refund of an order that was refunded before: two keys, of which the second needs time. */
  const approveAgain = async (terminal: ReturnType<typeof open>, end = ''): Promise<void> => {
    terminal.type(`a${end}`)
    // A narrow screen breaks the rest of the line.
    await terminal.shows('this was done')
    await pause(1500)
    terminal.type(`y${end}`)
  }

  test('a person approves with one key', async () => {
    const terminal = open(start, project.directory)
    await terminal.shows('[a]pprove  [r]eject')
    terminal.type('a')
    const { code, screen } = await terminal.ended
    expect(screen).toContain('Approval needed · acme.refunds@1.0.0 · non_idempotent_write')
    expect(screen).toContain('\n{"refunded":180,"currency":"EUR"}\n')
    expect(code).toBe(0)
  })

  test('what no person typed approves nothing, and a person rejects with a reason', async () => {
    const terminal = open(start, project.directory)
    await terminal.shows('[a]pprove  [r]eject')
    for (const bytes of ['xya', '\x1b[[A', '\x1ba', '\x1b[M aa', 'approve\n']) {
      terminal.type(bytes)
      await pause(500)
    }
    terminal.type('\x1b[200~a')
    await pause(500)
    terminal.type('\x1b[201~')
    await terminal.shows('Too early: "a" decided nothing. Read it, then press again.')
    await pause(1500)
    terminal.type('r')
    await terminal.shows('Reason (Escape: back):')
    terminal.type('already paid\r')
    const { code, screen } = await terminal.ended
    expect(screen).toContain('"refunded":0')
    expect(code).toBe(0)
  })

  test('Escape leaves the reason of a rejection, and nothing is decided', async () => {
    const terminal = open(start, project.directory)
    await terminal.shows('[a]pprove  [r]eject')
    terminal.type('r')
    await terminal.shows('Reason (Escape: back):')
    terminal.type('\x1b')
    await terminal.shows('[a]pprove  [r]eject', 2)
    await pause(1500)
    await approveAgain(terminal)
    const { code, screen } = await terminal.ended
    expect(screen).toContain('\n{"refunded":180,"currency":"EUR"}\n')
    expect(code).toBe(0)
  })

  test('keys that were typed before a card was drawn decide nothing, and those for a question are its answer', async () => {
    const own = copyExample('refund')
    const terminal = open(['dev', '--port', '0'], own.directory)
    await terminal.shows('[r]erun  [a]nswer')
    expect((await svc(start, { cwd: own.directory })).code).toBe(3)
    await terminal.shows('1 waiting')
    terminal.type('aa')
    await terminal.shows('Too early: "a" decided nothing. Read it, then press again.')
    await terminal.shows('[a]pprove  [r]eject')
    terminal.type('h')
    await terminal.shows('No decision about this tool is recorded.')
    await pause(500)
    terminal.type('r')
    await terminal.shows('Reason (Escape: back):')
    terminal.type('already paid\r')
    await terminal.shows('Reason (Escape: back): already paid')
    await terminal.shows('rejected by the operator')
    terminal.type('q')
    const { code } = await terminal.ended
    own.remove()
    expect(code).toBe(0)
  })

  test('a person edits the arguments, sees the difference, and what was edited runs', async () => {
    const terminal = open(start, project.directory, { EDITOR: 'sed -i s/180/120/' })
    await terminal.shows('[a]pprove  [r]eject')
    terminal.type('e')
    await terminal.shows('approve with these arguments?')
    terminal.type('y')
    const { code, screen } = await terminal.ended
    expect(screen).toContain('│   - amount  180\n│   + amount  120\n')
    expect(screen).toContain('approved as edited; checked again by schema and policies')
    expect(screen).toContain('\n{"refunded":120,"currency":"EUR"}\n')
    expect(code).toBe(0)
  })

  test('the inbox is a full screen, in which a task opens and is decided', async () => {
    await svc([...start, '--detach'], { cwd: project.directory })
    const [run] = (await svcJson<{ items: { runId: string }[] }>(['runs', 'list'], { cwd: project.directory })).items
    await svc(['runs', 'get', run!.runId, '--wait'], { cwd: project.directory })
    const terminal = open(['inbox'], project.directory)
    await terminal.shows('1 waiting')
    terminal.type('\r')
    await terminal.shows('[a]pprove  [r]eject')
    await approveAgain(terminal)
    await terminal.shows('any key')
    terminal.type(' ')
    await terminal.shows('nothing waits')
    terminal.type('q')
    const { code, screen } = await terminal.ended
    expect(screen).toContain('└ approved by ')
    expect(code).toBe(0)
  })

  test('svc runs watch shows the runs under way, and Enter follows one', async () => {
    const own = copyExample('refund')
    await deploy(own, 'acme.refund-desk')
    const serving = await serveHere(['--data', own.data], { cwd: own.directory })
    await svc(start, { cwd: own.directory })
    const terminal = open(['runs', 'watch'], own.directory)
    await terminal.shows('svc runs watch · 1 under way')
    await terminal.shows('WaitingForHITL')
    terminal.type('\r')
    await terminal.shows('[a]pprove  [r]eject')
    terminal.type('a')
    const { code, screen } = await terminal.ended
    await serving.stop()
    own.remove()
    expect(screen).toContain('\n{"refunded":180,"currency":"EUR"}\n')
    expect(code).toBe(0)
  })

  test('svc dev obeys its keys, shows runs, and answers the next task', async () => {
    const own = copyExample('refund')
    const terminal = open(['dev', '--port', '0'], own.directory)
    await terminal.shows('[r]erun  [a]nswer')
    terminal.type('l')
    await terminal.shows('lint: errors 0, warnings 0')
    const began = await svc(start, { cwd: own.directory })
    expect(began.code).toBe(3)
    await terminal.shows('WaitingForHITL  approval: acme.refunds')
    terminal.type('a')
    await terminal.shows('[a]pprove  [r]eject')
    terminal.type('a')
    await terminal.shows('acme.refund-desk@1.0.0-dev.1  Completed')
    // The card of another task closes by itself when somebody else decides it.
    const { code: waits } = await svc(['run', 'acme.refund-desk', 'order=A-2', 'amount:=190'], { cwd: own.directory })
    expect(waits).toBe(3)
    await terminal.shows('1 waiting')
    terminal.type('a')
    await terminal.shows('190 EUR')
    await svc(['reject', '@waiting', '--reason', 'too much'], { cwd: own.directory })
    await terminal.shows('answered elsewhere: rejected by the operator: too much')
    terminal.type('q')
    const { code } = await terminal.ended
    own.remove()
    expect(code).toBe(0)
  })

  test('a screen reader gets plain lines and questions', async () => {
    const terminal = open(start, project.directory, { SVC_ACCESSIBLE: '1' })
    // Typed before there is a card: it decides nothing.
    terminal.type('r\n')
    await terminal.shows('keys: a approve, r reject')
    await terminal.shows('Key:')
    await approveAgain(terminal, '\n')
    const { code, screen } = await terminal.ended
    expect(screen).toContain(
      'argument amount: 180 EUR, money, stopped by args.amount > 100, policies/refund-limit.yaml:',
    )
    expect(screen).not.toMatch(/[┌│└┆▸]/)
    expect(screen).toContain('\n{"refunded":180,"currency":"EUR"}\n')
    expect(code).toBe(0)
  })

  test('svc dev prints one line per change for a screen reader, and takes a letter and Enter', async () => {
    const own = copyExample('refund')
    const terminal = open(['dev', '--port', '0'], own.directory, { SVC_ACCESSIBLE: '1' })
    await terminal.shows('type a letter and Enter')
    expect((await svc(start, { cwd: own.directory })).code).toBe(3)
    await terminal.shows('WaitingForHITL  approval: acme.refunds')
    terminal.type('a\n')
    await terminal.shows('Key:')
    terminal.type('a\n')
    await terminal.shows('acme.refund-desk@1.0.0-dev.1  Completed')
    terminal.type('q\n')
    const { code, screen } = await terminal.ended
    own.remove()
    expect(screen).toMatch(/^\d\d:\d\d:\d\d {2}run [0-9a-f]{6} {2}\S+ {2}WaitingForHITL/m)
    expect(screen.match(/Key:/g)).toHaveLength(1)
    expect(code).toBe(0)
  })

  test('Ctrl-C at the question leaves the run waiting', async () => {
    const terminal = open(start, project.directory)
    await terminal.shows('[a]pprove  [r]eject')
    terminal.type('\u0003')
    const { code, screen } = await terminal.ended
    expect(screen).toContain('come back with: svc runs watch')
    expect(code).toBe(130)
    const { items } = await svcJson<{ items: { runId: string }[] }>(['inbox'], { cwd: project.directory })
    expect(items).toHaveLength(1)
    await svc(['runs', 'cancel', items[0]!.runId], { cwd: project.directory })
  })
})

test('a reader that has gone ends the command with 141 and no word', async () => {
  const child = spawn(process.execPath, [BIN, 'help', '--tree'], { env: { PATH: process.env['PATH'] } })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
  const code = await new Promise((done) => child.on('close', done))
  expect([code, stderr]).toEqual([141, ''])
})

test.skipIf(!existsSync('/dev/full'))('a full disk is told, with 8', async () => {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [BIN, 'help', '--tree'], { stdio: ['ignore', full, 'pipe'] })
  closeSync(full)
  let stderr = ''
  child.stderr!.on('data', (text: Buffer) => (stderr += text.toString()))
  const code = await new Promise((done) => child.on('close', done))
  const told = 'error[output_lost]: Standard output cannot be written: no space left on device.\n'
  expect([code, stderr]).toEqual([8, told])
})

test('the demo proves the installation', async () => {
  const { code, stdout } = await svc(['demo', '--speed', '0'])
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('completed\t{"refunded":180,"currency":"EUR"}')
  expect(code).toBe(0)
})
