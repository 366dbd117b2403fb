/**
 * A tool that is a program: one process per call, JSON on stdin, JSON on stdout. Source: docs/design/models-and-tools.md#where-a-tool-runs
 *
 * Exit code 0 with JSON is a result; any other exit code is an error of the tool, which is a complete answer too. The outcome
 * of a process that was killed or timed out is unknown.
 */
import type { Clock } from '../base/clock.ts'
import type { Redactor } from '../base/secret.ts'
import { failedOutcome, HELD_BACK, toInvocationBody, withDeadline, parseResult, saysNotExecuted } from './outcome.ts'
import {
  closeOutput,
  collectTail,
  environmentOf,
  pathOfProgram,
  signalGroup,
  type ProgramOutput,
  type ProgramProcess,
} from './program.ts'
import { READ_OUTPUT_BYTES, type ToolInvocation, type ToolOutcome } from './tool.ts'

export interface CommandParts {
  readonly argv: readonly string[]
  /** Directory of the config file; the program runs in it. */
  readonly cwd: string
  /** Environment of this process; the program gets only what `environmentOf` passes on. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Names of further variables that the config passes on. */
  readonly allow: readonly string[]
  /** Variables of this run of the program. */
  readonly variables?: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly clock: Clock
  readonly redactor: Redactor
}

export async function runCommand(
  parts: CommandParts,
  invocation: ToolInvocation,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const traced = { ...parts, variables: toTraceVariables(invocation) }
  const ended = await runProgram(traced, JSON.stringify(toInvocationBody(invocation)), signal, invocation.mayLeave)
  if (ended.at !== 'ended') return ended
  const { exitCode, stdout, stderr, took } = ended
  if (exitCode === 0) return await parseResult(stdout, took)
  const said = stdout.toString('utf8')
  return failedOutcome(
    failureText(exitCode, stderr || parts.redactor.cut(said, TAIL_CHARACTERS).text),
    took,
    saysNotExecuted(said) || saysNotExecuted(stderr),
  )
}

/** A program that exited by itself. */
interface EndedProgram {
  readonly at: 'ended'
  readonly exitCode: number
  /** Its beginning. */
  readonly stdout: Buffer
  /** Its end, redacted. */
  readonly stderr: string
  /** Milliseconds. */
  readonly took: number
}

/** Runs a program to its end, within its time, and kills what it left behind. */
export async function runProgram(
  parts: CommandParts,
  input: string,
  signal: AbortSignal,
  mayLeave?: () => boolean,
): Promise<EndedProgram | Extract<ToolOutcome, { readonly at: 'not_sent' | 'unknown' }>> {
  const { execa } = await import('execa')
  if (signal.aborted) return { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
  // The process is the call: it exists from here on.
  if (mayLeave?.() === false) return HELD_BACK
  const [program = '', ...args] = parts.argv
  const started = parts.clock.monotonic()
  const limit = withDeadline(parts.timeoutMs, signal)
  try {
    const child = execa(pathOfProgram(program), args, {
      cwd: parts.cwd,
      env: { ...environmentOf(parts.env, parts.allow), ...parts.variables },
      extendEnv: false,
      input,
      reject: false,
      buffer: false,
      // A process group of its own, so that child processes of the program are killed with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    const stdout = collect(child.stdout, READ_OUTPUT_BYTES)
    const stderr = collectTail(child.stderr, TAIL_CHARACTERS, parts.redactor)
    const processEnd = watchProcess(child, limit.signal)
    const ended = await Promise.race([child, processEnd.escaped])
    processEnd.release()
    const took = parts.clock.monotonic() - started
    if (child.pid === undefined)
      return {
        at: 'not_sent',
        code: isAbsent(ended?.code) ? 'refused' : 'unreachable',
        error: `${program} could not be started: ${ended?.code ?? ended?.shortMessage}.`,
      }
    if (limit.timedOut() && !processEnd.hasAnswered())
      return {
        at: 'unknown',
        code: 'timeout',
        error: `${program} did not answer within ${parts.timeoutMs} ms and ${ended ? 'was' : 'could not be'} ended.`,
      }
    if (ended?.exitCode === undefined)
      return {
        at: 'unknown',
        code: 'broken',
        error: signal.aborted
          ? `${program} was ended because the run was cancelled.`
          : `${program} was ended by ${ended?.signal ?? 'the system'}.`,
      }
    return { at: 'ended', exitCode: ended.exitCode, stdout: stdout(), stderr: stderr(), took }
  } finally {
    limit.release()
  }
}

/** The names under which OpenTelemetry SDKs look for them. */
const toTraceVariables = ({ trace }: ToolInvocation): Record<string, string> => ({
  ...(trace && { TRACEPARENT: trace.traceparent }),
  ...(trace?.tracestate !== undefined && { TRACESTATE: trace.tracestate }),
})

/** How long child processes may hold the output open after the program itself exited: its answer is complete by then. */
const LINGER_MS = 500

/** How long a program that was killed is waited for. One that runs as another user cannot be killed. */
const ESCAPE_MS = 2000

interface ProcessEnd {
  /** Resolves if the program goes on although it was killed. */
  readonly escaped: Promise<undefined>
  /** True if the program exited by itself before it was killed. */
  hasAnswered(): boolean
  release(): void
}

/** Kills a program when the signal aborts, and what it left behind when it has exited. */
function watchProcess(child: ProgramProcess, signal: AbortSignal): ProcessEnd {
  let hasAnswered = false
  let timer: NodeJS.Timeout | undefined
  const escaped = new Promise<undefined>((resolve) => {
    const stop = (): void => {
      signalGroup(child, 'SIGKILL')
      timer = setTimeout(() => {
        closeOutput(child)
        resolve(undefined)
      }, ESCAPE_MS)
    }
    signal.addEventListener('abort', stop, { once: true })
    child.once('exit', (code) => {
      hasAnswered = code !== null && !signal.aborted
      signal.removeEventListener('abort', stop)
      clearTimeout(timer)
      timer = setTimeout(() => {
        signalGroup(child, 'SIGKILL')
        // A process that left the group may still hold the output open; what it wrote so far has been read by now.
        timer = setTimeout(() => closeOutput(child), LINGER_MS)
      }, LINGER_MS)
    })
  })
  return { escaped, hasAnswered: () => hasAnswered, release: () => clearTimeout(timer) }
}

/** Characters kept of stderr: enough for a message and a stack trace, small enough for a model. */
const TAIL_CHARACTERS = 4096

const failureText = (code: number, output: string): string =>
  output.trim() === '' ? `exit code ${code}` : `exit code ${code}: ${output.trim()}`

/** Keeps the first bytes and reads the rest too, because a full pipe would block the program. */
function collect(stream: ProgramOutput, maxBytes: number): () => Buffer {
  const chunks: Buffer[] = []
  let bytes = 0
  stream?.on('data', (chunk: Buffer) => {
    if (bytes < maxBytes) chunks.push(chunk.subarray(0, maxBytes - bytes))
    bytes += chunk.length
  })
  return () => Buffer.concat(chunks)
}

/** True where waiting does not help: the program is not there, or may not be started. A machine that is short of processes recovers. */
const isAbsent = (code: string | undefined): boolean => ['ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC'].includes(code ?? '')
