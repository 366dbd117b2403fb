import { resolve } from 'node:path'
import { parseDuration } from '../base/duration.ts'
import { fail, isFailure } from '../base/failure.ts'
import type { ParsedCommand } from './shell/command.ts'
import { statIfAny } from '../base/files/sync-files.ts'
import { Interrupted, type Io } from './shell/io.ts'
import { modeOf, type OutputMode } from './shell/mode.ts'
import { createOutput } from './shell/output.ts'
import { wrapMessage } from '../terminal/message.ts'
import { createManual, parseCommandLine } from './program.ts'
import { usageFailure } from '../base/usage-failure.ts'

/** A second Ctrl-C within this time ends the process at once. Source: docs/design/command-line.md#asking */
const SECOND_MS = 2000

/** Parses and runs a command and prints its error: the only place that decides the exit code. */
export async function invokeCommand(argv: readonly string[], io: Io): Promise<number> {
  let mode = modeOf({ json: argv.includes('--json') }, io)
  try {
    if ((argv.length === 0 || argv.join() === 'status') && io.stdout.isTTY) {
      const { showStatus } = await import('./status-screen.ts')
      if (await showStatus(io, mode)) return 0
    }
    const parsed = await parseCommandLine(argv, io)
    if (typeof parsed === 'number') return parsed
    mode = modeOf(parsed.globals, io)
    return await runCommand(parsed, mode, io)
  } catch (error) {
    return await printError(error, mode, io)
  }
}

async function runCommand({ spec, given, globals }: ParsedCommand, mode: OutputMode, io: Io): Promise<number> {
  const stop = new AbortController()
  const interrupted = new Promise<never>((_, failed) => {
    stop.signal.addEventListener('abort', () => failed(stop.signal.reason as Error))
  })
  interrupted.catch(() => undefined)
  let firstSignalAt = -Infinity
  const stopListening = io.onSignal((signal) => {
    const now = io.clock.monotonic()
    if (stop.signal.aborted && now - firstSignalAt < SECOND_MS) io.exit(130)
    firstSignalAt = now
    stop.abort(new Interrupted(signal))
  })
  const timer = startDeadline(globals.timeout, stop)
  try {
    const startedAt = io.clock.monotonic()
    const action = await spec.load()
    const out = createOutput(io.stdout, io.stderr, mode)
    const cwd = resolve(io.cwd, globals.cwd ?? '.')
    if (globals.cwd !== undefined) requireDirectory(cwd)
    const tracedIo = mode.debug ? await withTrace(io) : io
    const running = action({
      given,
      globals,
      mode,
      io: tracedIo,
      out,
      cwd,
      signal: stop.signal,
      manual: createManual(io),
    })
    const code = (await (spec.drains ? running : Promise.race([running, interrupted]))) ?? 0
    if (mode.verbose)
      out.message(`svc ${spec.path} ended with ${code} after ${Math.round(io.clock.monotonic() - startedAt)} ms`)
    return code
  } catch (error) {
    // An aborted request throws its own error; the signal or the deadline is the one to report.
    throw stop.signal.aborted && !isFailure(error) ? stop.signal.reason : error
  } finally {
    stopListening()
    if (timer) clearTimeout(timer)
  }
}

/** @throws Failure `usage` */
function requireDirectory(path: string): void {
  if (statIfAny(path)?.isDirectory()) return
  throw usageFailure(`There is no directory ${path}.`)
}

async function withTrace(io: Io): Promise<Io> {
  const { traceRequests, tracedFetch } = await import('./shell/trace.ts')
  return { ...io, fetch: tracedFetch(io.fetch, io.stderr), trace: (send) => traceRequests(send, io.stderr) }
}

function startDeadline(text: string | undefined, stop: AbortController): NodeJS.Timeout | undefined {
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms === undefined) throw usageFailure(`--timeout takes a duration such as 30s or 5m, not "${text}".`)
  return setTimeout(() => stop.abort(fail('timed_out', { after: text })), ms)
}

const errorText = (text: string, { json, accessible }: OutputMode, { stderr }: Io): string =>
  json || accessible || !stderr.isTTY ? text : wrapMessage(text, stderr.width)

async function printError(error: unknown, mode: OutputMode, io: Io): Promise<number> {
  const { describeCommandError, formatCommandError } = await import('./shell/exit.ts')
  const words = describeCommandError(error)
  if (words) {
    if (words.code !== 'interrupted') io.stderr.write(`${errorText(formatCommandError(words, mode.json), mode, io)}\n`)
    if (mode.debug && error instanceof Error) io.stderr.write(`${error.stack}\n`)
    return words.exit
  }
  const { writeCrash } = await import('./shell/crash.ts')
  const { line, report } = await writeCrash(error, io)
  io.stderr.write(
    mode.json
      ? `${JSON.stringify({ error: { code: 'internal', message: line, docs: report } })}\n`
      : `error[internal]: ${line}\n  report: ${report}\n`,
  )
  if (mode.debug && error instanceof Error) io.stderr.write(`${error.stack}\n`)
  return 70
}
