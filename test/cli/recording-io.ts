/** A world for commands that keeps what they say, and answers what a test has prepared. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/base/clock.ts'
import type { Io, ProcessSignal } from '../../src/cli/shell/io.ts'
import { runCommandLine } from '../../src/cli/main.ts'
import { removeDirectory } from '../remove-directory.ts'

/** Outside the repository, because a command that fails unexpectedly writes a report there. */
const STATE_HOME = join(tmpdir(), 'svc-test-state')

export interface World {
  readonly io: Io
  readonly stdout: () => string
  readonly stderr: () => string
  /** The first whole line of stdout that matches, now or when it is written. */
  readonly line: (pattern: RegExp) => Promise<string>
  /** Questions that were asked, in order. */
  readonly asked: readonly string[]
  readonly signal: (signal: ProcessSignal) => void
}

export interface WorldOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  /** All three streams are terminals. */
  readonly tty?: boolean
  /** Columns of the terminal; 100 where absent. */
  readonly columns?: number
  /** Rows of the terminal; nobody knows them where absent. */
  readonly rows?: number
  readonly stdin?: string
  /** Answers to prompts, in the order in which they are asked. */
  readonly answers?: readonly (string | boolean)[]
  readonly clock?: Clock
  readonly fetch?: typeof globalThis.fetch
}

export function createWorld({
  cwd,
  env = {},
  tty = false,
  columns = 100,
  rows,
  stdin = '',
  answers = [],
  clock,
  fetch = globalThis.fetch,
}: WorldOptions): World {
  let stdout = ''
  let unread = stdin
  let stderr = ''
  const asked: string[] = []
  const prepared = [...answers]
  const heard = new Set<(signal: ProcessSignal) => void>()
  const answer = (question: string): unknown => {
    asked.push(question)
    if (prepared.length === 0) throw new Error(`Nobody prepared an answer to "${question}".`)
    return prepared.shift()
  }
  const waiting = new Set<() => void>()
  const line = (pattern: RegExp): Promise<string> =>
    new Promise((found) => {
      const look = (): void => {
        const match = stdout
          .split('\n')
          .slice(0, -1)
          .find((each) => pattern.test(each))
        if (match === undefined) return
        waiting.delete(look)
        found(match)
      }
      waiting.add(look)
      look()
    })
  const io: Io = {
    stdout: {
      write: (text) => {
        stdout += text
        waiting.forEach((look) => look())
      },
      isTTY: tty,
      width: columns,
    },
    stderr: {
      write: (text) => void (stderr += text),
      isTTY: tty,
      width: columns,
      ...(rows !== undefined && { height: rows }),
    },
    stdin: {
      isTTY: tty,
      // Gone once it is read, as of a process.
      text: () => {
        const text = unread
        unread = ''
        return Promise.resolve(text)
      },
    },
    env: { NO_COLOR: '1', XDG_STATE_HOME: STATE_HOME, ...env },
    cwd,
    clock: clock ?? { now: () => Date.now(), monotonic: () => performance.now() },
    fetch,
    prompts: {
      confirm: async (question) => answer(question) as boolean,
      text: async (question) => answer(question) as string,
      secret: async (question) => answer(question) as string,
      key: async (question) => answer(question) as string,
      select: async (question) => answer(question) as string,
      edit: async (text) => answer(text) as string,
    },
    unattended: false,
    onSignal(listener) {
      heard.add(listener)
      return () => heard.delete(listener)
    },
    exit: (code) => {
      throw new Error(`exit ${code}`)
    },
  }
  return {
    io,
    stdout: () => stdout,
    stderr: () => stderr,
    line,
    asked,
    signal: (signal) => heard.forEach((each) => each(signal)),
  }
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly asked: readonly string[]
}

/** Runs one command to its end. */
export async function svc(argv: readonly string[], options: WorldOptions): Promise<Ran> {
  const world = createWorld(options)
  const code = await runCommandLine(argv, world.io)
  return { code, stdout: world.stdout(), stderr: world.stderr(), asked: world.asked }
}

/** A command that goes on until it is told to end. */
export interface Going {
  readonly world: World
  readonly line: (pattern: RegExp) => Promise<string>
  /** The exit code, once it ends by itself. */
  readonly code: Promise<number>
  readonly end: () => Promise<number>
}

export function going(argv: readonly string[], options: WorldOptions): Going {
  const world = createWorld(options)
  const code = runCommandLine(argv, world.io)
  const gone = code.then((ended) => {
    throw new Error(`svc ${argv.join(' ')} ended with ${ended}: ${world.stderr()}`)
  })
  gone.catch(() => undefined)
  const line = (pattern: RegExp): Promise<string> => Promise.race([gone, world.line(pattern)])
  return {
    world,
    line,
    code,
    end: () => {
      world.signal('SIGTERM')
      return code
    },
  }
}

/** A directory for one test file; the caller removes it. */
export function temporary(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'svc-cli-'))
  return { path, remove: () => removeDirectory(path) }
}
