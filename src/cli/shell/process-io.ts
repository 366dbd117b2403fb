import { isAgent, isCI } from 'std-env'
import { systemClock } from '../../base/clock.ts'
import type { OutputSink } from '../../terminal/screen.ts'
import { exitOnLostOutput } from './lost-output.ts'
import { Interrupted, type Io, type Prompts } from './io.ts'

/** Input and output of this process. */
export function processIo(): Io {
  // Without a listener Node prints a stack trace and exits 1 when the reader of a pipe has gone.
  process.stdout.on('error', exitOnLostOutput)
  process.stderr.on('error', () => undefined)
  const { env } = process
  return {
    stdout: sinkOf(process.stdout, env['SVC_FORCE_TTY']),
    stderr: sinkOf(process.stderr, env['SVC_FORCE_TTY']),
    stdin: {
      get isTTY() {
        return process.stdin.isTTY
      },
      text: async () => (await readStdin()).toString('utf8'),
      bytes: readStdin,
    },
    writeBytes: (bytes) => void process.stdout.write(bytes),
    ...(process.stdout.isTTY && { page: (text: string) => page(text, env) }),
    env,
    cwd: process.cwd(),
    clock: systemClock,
    fetch: globalThis.fetch,
    prompts: createPrompts(env),
    unattended: isCI || isAgent,
    onSignal(notify) {
      // SIGHUP, when the terminal closes, shuts down like SIGTERM.
      const signalNames = { SIGINT: 'SIGINT', SIGTERM: 'SIGTERM', SIGHUP: 'SIGTERM' } as const
      const listeners = (Object.keys(signalNames) as (keyof typeof signalNames)[]).map(
        (signal) => [signal, () => notify(signalNames[signal])] as const,
      )
      for (const [signal, listener] of listeners) process.on(signal, listener)
      return () => listeners.forEach(([signal, listener]) => process.off(signal, listener))
    },
    exit: (code) => process.exit(code),
  }
}

/** Source: command line, 1.5: only when longer than the screen, and `LESS=FRX` unless the person has set it. */
async function page(text: string, env: NodeJS.ProcessEnv): Promise<void> {
  const command = env['SVC_PAGER'] ?? env['PAGER'] ?? 'less'
  const [program, ...args] = command.split(' ').filter((word) => word !== '')
  const short = text.split('\n').length < (process.stdout.rows || Infinity)
  if (short || program === undefined || program === 'cat') {
    process.stdout.write(text)
    return
  }
  const { spawn } = await import('node:child_process')
  await new Promise<void>((done) => {
    const child = spawn(program, args, { stdio: ['pipe', 'inherit', 'inherit'], env: { LESS: 'FRX', ...env } })
    child.on('error', () => {
      process.stdout.write(text)
      done()
    })
    child.on('close', () => done())
    // Quitting the pager closes its stdin early; that is no error.
    child.stdin.on('error', () => undefined)
    child.stdin.end(text)
  })
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** `SVC_FORCE_TTY=100` pretends a terminal of 100 columns. */
function sinkOf(stream: NodeJS.WriteStream, force: string | undefined): OutputSink {
  const forced = force === undefined ? undefined : Number(force)
  return {
    write: (text) => void stream.write(text),
    isTTY: forced !== undefined || stream.isTTY,
    get width() {
      return forced !== undefined && forced > 0 ? forced : stream.columns || 80
    },
  }
}

/** All templates at once; a longer list scrolls. */
const SHOWN_CHOICES = 12

function createPrompts(env: NodeJS.ProcessEnv): Prompts {
  const context = (signal: AbortSignal | undefined) => ({ output: process.stderr, ...(signal && { signal }) })
  const withInterrupts = async <T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof Error && error.name === 'ExitPromptError') throw new Interrupted('SIGINT')
      throw error
    }
  }
  return {
    async confirm(question, signal) {
      const { confirm } = await import('@inquirer/prompts')
      return await withInterrupts(confirm({ message: question, default: false }, context(signal)), signal)
    },
    async text(question, signal) {
      const { input } = await import('@inquirer/prompts')
      return await withInterrupts(input({ message: question }, context(signal)), signal)
    },
    async secret(question, signal) {
      const { password } = await import('@inquirer/prompts')
      return await withInterrupts(password({ message: question, mask: false }, context(signal)), signal)
    },
    key: readKey,
    async select(question, choices, signal) {
      const { select } = await import('@inquirer/prompts')
      return await withInterrupts(
        select({ message: question, choices: [...choices], pageSize: SHOWN_CHOICES }, context(signal)),
        signal,
      )
    },
    async edit(text, signal) {
      const editor = env['VISUAL'] || env['EDITOR']
      if (!editor) {
        const { input } = await import('@inquirer/prompts')
        const line = text.trim().replaceAll(/\s*\n\s*/g, ' ')
        return await withInterrupts(
          input({ message: 'Edit:', default: line, prefill: 'editable' }, context(signal)),
          signal,
        )
      }
      const { editText } = await import('./editor.ts')
      return await editText(editor, text, signal)
    },
  }
}

/** Reads one keypress in raw mode and always leaves raw mode again. */
function readKey(question: string, keys: readonly string[], signal?: AbortSignal): Promise<string> {
  const { stdin, stderr } = process
  // Without a question nothing is drawn: messages printed meanwhile start on a fresh line.
  if (question !== '') stderr.write(`${question} `)
  return new Promise((done, failed) => {
    const close = () => {
      stdin.off('data', onData)
      stdin.off('end', onEnd)
      signal?.removeEventListener('abort', onAbort)
      if (stdin.isTTY) stdin.setRawMode(false)
      stdin.pause()
      stderr.write('\n')
    }
    const settle = (finish: () => void) => {
      close()
      finish()
    }
    const onAbort = () => settle(() => failed(signal?.reason as Error))
    const onEnd = () => settle(() => failed(new Interrupted('SIGINT')))
    const onData = (bytes: Buffer) => {
      for (const typed of bytes.toString('utf8').toLowerCase()) {
        // In raw mode the terminal no longer turns Ctrl-C and Ctrl-D into signals.
        if (typed === '\u0003' || typed === '\u0004') return settle(() => failed(new Interrupted('SIGINT')))
        if (!keys.includes(typed)) continue
        stderr.write(typed)
        return settle(() => done(typed))
      }
    }
    if (signal?.aborted) return onAbort()
    signal?.addEventListener('abort', onAbort)
    if (stdin.isTTY) stdin.setRawMode(true)
    stdin.on('data', onData)
    stdin.on('end', onEnd)
    stdin.resume()
  })
}
