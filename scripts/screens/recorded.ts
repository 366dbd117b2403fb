/** Screens of the built program at work: each command is typed in a project of its own, beside a server. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import type { TerminalFrame } from './animation.ts'
import { openTerminals, type TerminalServer } from './terminal.ts'

type Step = readonly [until: RegExp, ...keys: string[]] | readonly [until: RegExp, change: (project: string) => void]

interface RecordedScreen {
  readonly command: string
  /** What is typed or changed, each after the text before it is there. */
  readonly steps?: readonly Step[]
  /** Text that is there when the picture is taken. */
  readonly until: RegExp
  /** Changes files before. */
  readonly prepare?: (project: string) => void
  readonly height?: number
  /** In a new project, or where there is none. */
  readonly place?: 'new' | 'outside'
}

const run = 'svc run acme.refund-desk order=A-1042 amount:=180'
const CARD = /\[a\]pprove/

const edit = (path: string, from: string, to: string) => (project: string) => {
  const file = join(project, path)
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${path} does not say ${from}.`)
  writeFileSync(file, text.replace(from, to))
}
const raiseLimit = edit('policies/refund-limit.yaml', 'value: 100', 'value: 250')

/** In this order: a later screen shows what an earlier one left. */
const recordedScreens: Readonly<Record<string, RecordedScreen>> = {
  'init-ask': {
    command: 'svc init',
    until: /emplate[^]*blank/,
    steps: [[/older|irectory/, 'desk', 'Enter']],
    place: 'outside',
  },
  init: { command: 'svc init desk --full --no-input', until: /next/, place: 'outside' },
  demo: { command: 'svc demo', until: /init/, steps: [[CARD, 'a']], height: 70, place: 'outside' },
  help: { command: 'svc help', until: /svc help/, height: 70 },
  'lint-clean': { command: 'svc lint', until: /0 errors/ },
  'plan-first': { command: 'svc publish --plan', until: /delegation/, height: 40, place: 'new' },
  publish: { command: 'svc publish --deploy', until: /deployed/, height: 40, place: 'new' },
  'publish-wider': {
    command:
      'svc publish --deploy --yes -q; sed -i "s/value: 100/value: 250/" policies/refund-limit.yaml; clear; svc publish --bump major',
    until: /y\/N/,
    height: 40,
    place: 'new',
  },
  lint: {
    command: 'svc lint',
    until: /errors?,/,
    prepare: edit(
      'policies/refund-limit.yaml',
      'field: args.amount\n    op: gt\n    value: 100',
      'field: args.amuont\n    op: gt\n    value: "100"',
    ),
    height: 50,
    place: 'new',
  },
  dev: {
    command: 'svc dev --port 0',
    steps: [[/\[q\]uit|q quit/, raiseLimit]],
    until: /wider/,
    height: 32,
    place: 'new',
  },
  agents: { command: 'svc agents show acme.refund-desk', until: /curl/, height: 40 },
  run: { command: run, until: CARD, height: 40 },
  'run-done': { command: run, until: /tokens/, steps: [[CARD, 'a']], height: 40 },
  status: { command: 'svc', until: /svc help/ },
  inbox: { command: 'svc inbox', until: /q leave/ },
  'inbox-open': { command: 'svc inbox', until: CARD, steps: [[/q leave/, 'Enter']] },
  runs: { command: 'svc runs list', until: /Completed/ },
  'runs-watch': { command: 'svc runs list --watch', until: /Completed[^]*q leave/ },
  conversation: { command: 'svc runs conversation @last --no-pager', until: /UserTaskReq/, height: 60 },
  'policy-explain': { command: 'svc policy explain @last', until: /result/, height: 40 },
  doctor: { command: 'svc doctor', until: /proxy/, height: 40 },
}

export const RECORDED_SCREENS = Object.keys(recordedScreens)

/**
 * Plays the screens in every width, and gives each picture as it is taken.
 * @param wanted names of screens
 */
export async function recordScreens(
  wanted: ReadonlySet<string>,
  widths: readonly number[],
  save: (name: string, width: number, lines: readonly string[]) => void,
): Promise<void> {
  const { home, terminals, close } = openHome()
  let made = 0
  const makeProject = async (): Promise<string> => {
    const directory = join(home, `place${made++}`)
    mkdirSync(directory)
    await play(terminals, directory, { command: 'svc init refund-demo --full --no-input', until: /next/ }, 80)
    return join(directory, 'refund-demo')
  }
  const makePlace = async (place: RecordedScreen['place'], shared: string): Promise<string> => {
    if (place === undefined) return shared
    if (place === 'new') return await makeProject()
    const directory = join(home, `place${made++}`)
    mkdirSync(directory)
    return directory
  }
  try {
    const shared = await makeProject()
    const server = terminals.open({ width: 100, height: 30 }, shared, 'svc dev --port 0')
    await server.capture(/\[q\]uit|q quit/)
    for (const [name, screen] of Object.entries(recordedScreens)) {
      if (!wanted.has(name)) continue
      for (const width of widths)
        try {
          save(name, width, await play(terminals, await makePlace(screen.place, shared), screen, width))
        } catch (error) {
          // The others are worth having.
          process.exitCode = 1
          console.error(`${name} at ${width}: ${String(error)}`)
        }
    }
  } finally {
    close()
  }
}

/** A home directory of its own in which `svc` is the built program, and terminals that see nothing else. */
function openHome() {
  const home = mkdtempSync(join(tmpdir(), 'svc-pictures-'))
  mkdirSync(join(home, 'bin'))
  symlinkSync(resolve(import.meta.dirname, '../../bin/svc.js'), join(home, 'bin/svc'))
  const terminals = openTerminals({
    PATH: `${join(home, 'bin')}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    USER: 'ana',
    LANG: 'C.UTF-8',
    COLORTERM: 'truecolor',
  })
  const close = (): void => {
    terminals.close()
    rmSync(home, { recursive: true, force: true })
  }
  return { home, terminals, close }
}

/** How long a viewer reads the card before it is answered. */
const READING_MS = 6000
const FRAME_MS = 80

/** Plays `svc demo` on a terminal, approves its card, and returns what the screen showed and since when. */
export async function recordDemo(size: { width: number; height: number }): Promise<readonly TerminalFrame[]> {
  const { home, terminals, close } = openHome()
  try {
    const terminal = terminals.open(size, home, 'svc demo')
    const frames: TerminalFrame[] = []
    const begin = performance.now()
    let cardAt: number | undefined
    let isApproved = false
    for (;;) {
      const atMs = performance.now() - begin
      const lines = terminal.frame()
      if (lines.join('\n') !== frames.at(-1)?.lines.join('\n')) frames.push({ atMs, lines })
      const text = lines.join('\n')
      if (CARD.test(text)) cardAt ??= atMs
      if (cardAt !== undefined && !isApproved && atMs > cardAt + READING_MS) {
        terminal.type('a')
        isApproved = true
      }
      if (isApproved && /svc init/.test(text)) return frames
      if (atMs > 90_000) throw new Error(`svc demo did not end:\n${text}`)
      await after(FRAME_MS)
    }
  } finally {
    close()
  }
}

async function play(
  terminals: TerminalServer,
  project: string,
  { command, steps = [], until, prepare, height = 24 }: RecordedScreen,
  width: number,
): Promise<string[]> {
  prepare?.(project)
  const terminal = terminals.open({ width, height }, project, command)
  try {
    for (const [text, ...keys] of steps) {
      await terminal.capture(text)
      for (const key of keys)
        if (typeof key === 'string') terminal.type(key)
        else key(project)
    }
    return await terminal.capture(until)
  } finally {
    terminal.close()
  }
}
