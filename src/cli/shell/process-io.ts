import { isAgent, isCI } from 'std-env'
import { systemClock } from '../../base/clock.ts'
import type { OutputSink } from '../../terminal/output-sink.ts'
import { escapeForTerminal } from '../../terminal/terminal-writer.ts'
import { wrapText } from '../../terminal/text.ts'
import { exitOnLostOutput } from './lost-output.ts'
import { Interrupted, type Io, type PromptChoice, type Prompts } from './io.ts'
import { dropTyped, holdKeys, lastTyped, readKey, untilEscape, withoutKeeping } from './screen/typed-keys.ts'
import { askHidden } from './prompts/hidden-prompt.ts'
import { createPlainPrompts } from './prompts/plain-prompts.ts'

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
    ...(process.stdout.isTTY && { page: (text: string) => withoutKeeping(() => page(text, env)) }),
    env,
    cwd: process.cwd(),
    clock: systemClock,
    fetch: globalThis.fetch,
    prompts: (env['SVC_ACCESSIBLE'] ?? '0') !== '0' ? createPlainPrompts(env) : createPrompts(env),
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
    onResize(listener) {
      process.stdout.on('resize', listener)
      return () => process.stdout.off('resize', listener)
    },
    exit: (code) => process.exit(code),
  }
}

/** Pages what is longer than the screen; `LESS=FRX` unless the person has set it. Source: docs/design/command-line.md#asking */
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
    get height() {
      return stream.rows || 24
    },
  }
}

/** All templates at once; a longer list scrolls. */
const SHOWN_CHOICES = 12

function createPrompts(env: NodeJS.ProcessEnv): Prompts {
  const context = (signal: AbortSignal | undefined) => ({ output: process.stderr, ...(signal && { signal }) })
  const withInterrupts = async <T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
    try {
      return await withoutKeeping(ask)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof Error && error.name === 'ExitPromptError') throw new Interrupted('SIGINT')
      throw error
    }
  }
  return {
    async confirm(question, signal, assumed = false) {
      const { confirm } = await import('./prompts/inquirer.ts')
      return await withInterrupts(
        () => confirm({ message: fitQuestion(question), default: assumed }, context(signal)),
        signal,
      )
    },
    async text(question, signal) {
      const { input } = await import('./prompts/inquirer.ts')
      return await untilEscape(signal, (until) =>
        withInterrupts(() => input({ message: fitQuestion(question) }, context(until)), until),
      )
    },
    secret: (question, signal) => withoutKeeping(() => askHidden(question, signal)),
    key: readKey,
    holdKeys,
    dropTyped,
    lastTyped,
    async select(question, choices, signal) {
      const { select } = await import('./prompts/inquirer.ts')
      return await withInterrupts(
        () =>
          select(
            { message: fitQuestion(question), choices: choices.map(withWrapped), pageSize: SHOWN_CHOICES },
            context(signal),
          ),
        signal,
      )
    },
    async edit(text, signal) {
      const editor = env['VISUAL'] || env['EDITOR']
      if (!editor) {
        const { input } = await import('./prompts/inquirer.ts')
        // The line is drawn as it is edited. In arguments, which are JSON, escapes mean the same.
        const line = escapeForTerminal(text.trim().replaceAll(/\s*\n\s*/g, ' '))
        return await untilEscape(signal, (until) =>
          withInterrupts(() => input({ message: 'Edit:', default: line, prefill: 'editable' }, context(until)), until),
        )
      }
      const { editText } = await import('./prompts/editor.ts')
      return await withoutKeeping(() => editText(editor, text, signal))
    },
  }
}

/** The library breaks lines within words; `? ` stands before the first, and `(y/N)` behind the last. */
const fitQuestion = (question: string): string => wrapText(question, stderrWidth() - 10).join('\n')

const stderrWidth = (): number => process.stderr.columns || 80

const withWrapped = ({ description, ...choice }: PromptChoice): PromptChoice =>
  description === undefined ? choice : { ...choice, description: wrapText(description, stderrWidth() - 1).join('\n') }
