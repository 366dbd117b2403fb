/**
 * One process of an MCP server that runs as a program and speaks over its standard streams, a message a line.
 * Source: docs/design/models-and-tools.md#mcp-servers-as-programs
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { escapeLineEnds } from '../../base/json/json-line.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import { UnsentError, unsentBecause } from '../../base/net/transport.ts'
import type { Redactor } from '../../base/secret.ts'
import { createLineReader, type OutputLine } from './output-lines.ts'
import { closeOutput, collectTail, environmentOf, pathOfProgram, signalGroup } from '../program.ts'
import { killMarked, memoryOfTree, PROGRAM_MARK } from '../program-tree.ts'

export interface McpProcessParts {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Names of further variables that the program gets. */
  readonly allow: readonly string[]
  /** Of it and all that it started, in bytes. */
  readonly mostMemory: number
  readonly redactor: Redactor
  readonly onLine: (line: OutputLine) => void
}

export interface McpProcess {
  /** Aborted when the process has ended or is being ended; the reason is an error that says why. */
  readonly ended: AbortSignal
  /**
   * Writes a message after those before it. Resolves when the program has it in its pipe.
   * @param checkLeaving throws, when its turn has come, where it may not be written any more
   * @throws UnsentError where no whole message can have reached the program
   */
  write(message: string, checkLeaving?: () => void): Promise<void>
  /** Counts output that no request asked for, and ends a program that floods. */
  countUnasked(bytes: number): void
  /** Ends it: closes its input, then signals its process group. */
  end(why: Error): Promise<void>
  /** Kills it at once. */
  kill(why: string): void
}

/** Output that no request asked for is bounded by both within this time. */
const FLOOD_MS = 10_000
const MAX_UNASKED_BYTES = 8 * 1024 * 1024
const MAX_UNASKED_LINES = 20_000

/** Of what the program does not read: more is not sent. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024

/** After its input was closed, and again after SIGTERM. */
const GRACE_MS = 1000

/** Time between two looks at its memory. */
const MEMORY_EVERY_MS = 2000

/** Characters of stderr, or of the last output that is no message, that an error shows. */
const TAIL_CHARACTERS = 400

/** What must not outlive this process: kills a program with all that it started. */
const running = new Set<() => void>()
let isWatchingExit = false

function watchExit(): void {
  if (isWatchingExit) return
  isWatchingExit = true
  process.on('exit', () => running.forEach((killAll) => killAll()))
}

/** @throws UnsentError when the program cannot be started */
export async function startMcpProcess(parts: McpProcessParts): Promise<McpProcess> {
  const { execa } = await import('execa')
  const [program = '', ...args] = parts.argv
  const mark = randomUUID()
  const child = execa(pathOfProgram(program), args, {
    cwd: parts.cwd,
    env: { ...environmentOf(parts.env, parts.allow), [PROGRAM_MARK]: mark },
    extendEnv: false,
    stdin: 'pipe',
    reject: false,
    buffer: false,
    cleanup: false,
    // A process group of its own, so that child processes of the program are ended with it.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  const { pid } = child
  if (pid === undefined) {
    const { code, shortMessage } = await child
    const where = existsSync(parts.cwd) ? '' : ` in ${parts.cwd}, which does not exist`
    throw new UnsentError(`${program} could not be started${where}: ${code ?? shortMessage}.`, code, undefined)
  }
  watchExit()
  // Its own child processes end with it, those in its group at once.
  const killAll = (): void => {
    signalGroup(child, 'SIGKILL')
    killMarked(mark)
  }
  running.add(killAll)
  const { stdin } = child
  const ended = new AbortController()
  const stderr = collectTail(child.stderr, TAIL_CHARACTERS, parts.redactor)
  const said = (): string => shortenText(stderr().trim(), TAIL_CHARACTERS)
  const withTail = (text: string): Error => new Error(said() === '' ? `${text}.` : `${text}: ${said()}`)
  const stop = (why: Error): void => {
    if (!ended.signal.aborted) ended.abort(why)
  }
  const reader = createLineReader(parts.onLine, () => kill('wrote a message without end'))
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      // What it wrote before has been read by then.
      setImmediate(() => {
        if (!ended.signal.aborted) reader.end()
        stop(withTail(`${program} ended with ${signal ?? `exit code ${code}`}`))
        clearInterval(memoryTimer)
        killAll()
        running.delete(killAll)
        closeOutput(child)
        resolve()
      })
    })
  })
  const kill = (why: string): void => {
    stop(withTail(`${program} ${why}, and was ended`))
    killAll()
    closeOutput(child)
  }

  const memoryTimer = setInterval(() => {
    void memoryOfTree(pid).then((bytes) => {
      if (bytes !== undefined && bytes > parts.mostMemory && !ended.signal.aborted)
        kill(`took more memory than the ${mebibytes(parts.mostMemory)} of \`memory_bytes\``)
    })
  }, MEMORY_EVERY_MS).unref()

  let window = { since: 0, bytes: 0, lines: 0 }
  const countUnasked = (bytes: number): void => {
    const now = performance.now()
    if (now - window.since > FLOOD_MS) window = { since: now, bytes: 0, lines: 0 }
    window.bytes += bytes
    window.lines++
    if (window.bytes > MAX_UNASKED_BYTES || window.lines > MAX_UNASKED_LINES) kill('wrote more than anybody asked for')
  }
  child.stdout.on('data', (chunk: Buffer) => {
    if (!ended.signal.aborted) reader.push(chunk)
  })
  // One that ends closes its output as well; one that goes on can answer nothing any more.
  child.stdout.once('end', () => {
    const timer = setTimeout(() => ended.signal.aborted || kill('closed its output'), GRACE_MS)
    void exited.then(() => clearTimeout(timer))
  })
  child.stderr.on('data', (chunk: Buffer) => countUnasked(chunk.byteLength))
  // A program that closes its input reads no more; a write that fails says so itself.
  stdin.on('error', () => {})

  let unreadBytes = 0
  let lastWrite: Promise<void> = Promise.resolve()
  /** Lines are written one after the other: a stream writes all that it holds at once, and fails them all for the last one's failure. */
  const writeLine = (line: Buffer, checkLeaving: (() => void) | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      if (ended.signal.aborted) return reject(unsentBecause(ended.signal.reason as Error))
      checkLeaving?.()
      stdin.write(line, (error) => {
        if (!error) return resolve()
        // The reason why it ended says more than that its pipe is closed.
        setImmediate(() => reject(unsentBecause(ended.signal.aborted ? (ended.signal.reason as Error) : error)))
      })
    })

  const endOnce = async (why: Error): Promise<void> => {
    stop(why)
    stdin.end()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await isDoneWithin(exited, GRACE_MS)) return
      signalGroup(child, signal)
    }
    // One that runs as another user cannot be killed.
    if (!(await isDoneWithin(exited, GRACE_MS))) closeOutput(child)
  }
  let ending: Promise<void> | undefined
  return {
    ended: ended.signal,
    async write(message, checkLeaving) {
      if (ended.signal.aborted) throw unsentBecause(ended.signal.reason as Error)
      if (unreadBytes > MAX_UNREAD_BYTES) throw unsentBecause(new Error(`${program} does not read its input.`))
      const line = Buffer.from(`${escapeLineEnds(message)}\n`)
      unreadBytes += line.byteLength
      const done = lastWrite.then(() => writeLine(line, checkLeaving)).finally(() => (unreadBytes -= line.byteLength))
      lastWrite = done.catch(() => {})
      await done
    },
    countUnasked,
    end: (why) => (ending ??= endOnce(why)),
    kill,
  }
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`

async function isDoneWithin(done: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  const isDone = await Promise.race([done.then(() => true), late])
  clearTimeout(timer)
  return isDone
}
