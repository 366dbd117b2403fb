/**
 * A tool that is a program: one process a call, JSON on stdin, JSON on stdout. Source: decisions, section 14.
 *
 * Exit 0 and JSON is a result; another exit code is the tool's own error, a complete answer too. A process that was killed, or
 * that ran out of time, may have done its work or not.
 */
import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../base/clock.ts'
import { bodyOf, withDeadline, parseResult, returnedOutcome } from './outcome.ts'
import { MAX_OUTPUT_BYTES, type ToolInvocation, type ToolOutcome } from './tool.ts'

export interface CommandParts {
  readonly argv: readonly string[]
  /** Directory of the config file, in which the program runs. */
  readonly cwd: string
  /** Environment of this process, of which the program sees what `environmentOf` lets through. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Further variables that the config lets through. */
  readonly allow: readonly string[]
  readonly timeoutMs: number
  readonly clock: Clock
}

export async function runCommand(
  parts: CommandParts,
  invocation: ToolInvocation,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { execa } = await import('execa')
  if (signal.aborted) return { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
  const [program = '', ...args] = parts.argv
  const started = parts.clock.monotonic()
  const limit = withDeadline(parts.timeoutMs, signal)
  try {
    const child = execa(program === 'node' ? process.execPath : program, args, {
      cwd: parts.cwd,
      env: environmentOf(parts.env, parts.allow),
      extendEnv: false,
      input: JSON.stringify(bodyOf(invocation)),
      reject: false,
      buffer: false,
      // A process group of its own, so that what the program starts is ended with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    const kill = (): void => killTree(child)
    limit.signal.addEventListener('abort', kill, { once: true })
    let answeredInTime = false
    let letGo: NodeJS.Timeout | undefined
    child.once('exit', (code) => {
      answeredInTime = code !== null && !limit.signal.aborted
      letGo = setTimeout(() => {
        kill()
        // What left the group holds the output still; what was written is read before.
        letGo = setTimeout(() => {
          child.stdout?.destroy()
          child.stderr?.destroy()
        }, LINGER_MS)
      }, LINGER_MS)
    })
    const stdout = collect(child.stdout, MAX_OUTPUT_BYTES + 1)
    const stderr = collectTail(child.stderr, TAIL_BYTES)
    const ended = await child
    clearTimeout(letGo)
    const took = parts.clock.monotonic() - started
    if (child.pid === undefined)
      return {
        at: 'not_sent',
        code: 'unreachable',
        error: `${program} could not be started: ${ended.code ?? ended.shortMessage}.`,
      }
    if (limit.timedOut() && !answeredInTime)
      return {
        at: 'unknown',
        code: 'timeout',
        error: `${program} did not answer within ${parts.timeoutMs} ms and was ended.`,
      }
    if (ended.exitCode === undefined)
      return {
        at: 'unknown',
        code: 'broken',
        error: signal.aborted
          ? `${program} was ended because the run was cancelled.`
          : `${program} was ended by ${ended.signal ?? 'the system'}.`,
      }
    if (ended.exitCode !== 0)
      return returnedOutcome(
        failureText(ended.exitCode, stderr() || stdout().toString('utf8', 0, TAIL_BYTES)),
        true,
        took,
      )
    return parseResult(stdout(), took)
  } finally {
    limit.release()
  }
}

/** How long what a program started may hold its output open once the program itself has ended: its answer is complete by then. */
const LINGER_MS = 500

/** Of stderr: enough for a message and a stack, small enough for a model. */
const TAIL_BYTES = 4096

const failureText = (code: number, said: string): string =>
  said.trim() === '' ? `exit code ${code}` : `exit code ${code}: ${said.trim()}`

const PASSED = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR']
const PASSED_ON_WINDOWS = [
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'PATHEXT',
  'COMSPEC',
  'USERPROFILE',
  'TEMP',
  'TMP',
  'APPDATA',
  'LOCALAPPDATA',
]

/**
 * What a program may know of our environment. Never the server's address or its keys, even when the config names them: an agent
 * that could reach them could approve its own calls (security, S19).
 */
function environmentOf(env: CommandParts['env'], allow: readonly string[]): Record<string, string> {
  const names = [
    ...PASSED,
    ...(process.platform === 'win32' ? PASSED_ON_WINDOWS : []),
    ...allow.filter((name) => !name.startsWith('SVC_')),
  ]
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

/** The program may have ended before what it started: its group is there as long as one of them is. */
function killTree(child: Pick<ChildProcess, 'pid' | 'kill'>): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    // The group ended in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

type Readable = NodeJS.ReadableStream | null | undefined

/** Keeps the first bytes and reads on, since a full pipe would stop a program in the middle of its work. */
function collect(stream: Readable, maxBytes: number): () => Buffer {
  const chunks: Buffer[] = []
  let bytes = 0
  stream?.on('data', (chunk: Buffer) => {
    if (bytes < maxBytes) chunks.push(chunk.subarray(0, maxBytes - bytes))
    bytes += chunk.length
  })
  return () => Buffer.concat(chunks)
}

/** Keeps the last bytes. */
function collectTail(stream: Readable, maxBytes: number): () => string {
  let tail = Buffer.alloc(0)
  stream?.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-maxBytes)
  })
  return () => tail.toString('utf8')
}
