/** Questions as plain lines, for a screen reader: each is one line, nothing is redrawn. Source: docs/design/command-line.md#asking */
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { escapeForTerminal } from '../../../terminal/terminal-writer.ts'
import { askHidden } from './hidden-prompt.ts'
import { Interrupted, type Prompts } from '../io.ts'
import { createKeyDecoder } from '../screen/keys.ts'

export function createPlainPrompts(env: Readonly<Record<string, string | undefined>>): Prompts {
  const text = (question: string, signal?: AbortSignal): Promise<string> => askLine(question, signal)
  return {
    text,
    secret: askHidden,
    dropTyped: dropTypedLines,
    async confirm(question, signal) {
      return /^y(?:es)?$/i.test((await text(`${question} Type y or n:`, signal)).trim())
    },
    async key(question, keys, signal) {
      for (;;) {
        // Without an open question, log lines may be printed at any time and would appear behind the question.
        const typed = (await text(question === '' ? '' : `${question === '?' ? 'Key' : question}:`, signal)).trim()
        if (typed !== '' && (keys === 'any' || keys.includes(typed))) return typed
        process.stderr.write(`Type one of: ${keys === 'any' ? 'any key' : keys.join(', ')}\n`)
      }
    },
    async select(question, choices, signal) {
      choices.forEach(({ name, description }, at) =>
        process.stderr.write(`${at + 1}: ${name}${description === undefined ? '' : `. ${description}`}\n`),
      )
      for (;;) {
        const typed = Number(await text(`${question} Number 1 to ${choices.length}:`, signal))
        const chosen = choices[typed - 1]
        if (chosen) return chosen.value
      }
    },
    async edit(given, signal) {
      const editor = env['VISUAL'] || env['EDITOR']
      if (!editor) {
        process.stderr.write(`${escapeForTerminal(given.trim())}\n`)
        const line = await text('New text, empty to keep it:', signal)
        return line.trim() === '' ? given : line
      }
      const { editText } = await import('./editor.ts')
      return await editText(editor, given, signal)
    },
  }
}

/** Earlier input arrives with the next turns of the event loop, where nothing reads it. */
async function dropTypedLines(): Promise<readonly string[]> {
  const { stdin } = process
  const dropped: string[] = []
  const decoder = createKeyDecoder()
  const forget = (bytes: Buffer): void => void dropped.push(...decoder.push(bytes).flatMap(({ key }) => key ?? []))
  stdin.on('data', forget)
  stdin.resume()
  for (let turn = 0; turn < 2; turn++) await new Promise((done) => setImmediate(done))
  stdin.off('data', forget)
  stdin.pause()
  return dropped.filter((key) => key !== 'Enter')
}

async function askLine(question: string, signal: AbortSignal | undefined): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, prompt: '' })
  const interrupted = new Promise<never>((_, failed) => {
    reader.on('SIGINT', () => failed(new Interrupted('SIGINT')))
    reader.on('close', () => failed(new Interrupted('SIGINT')))
  })
  interrupted.catch(() => undefined)
  try {
    const options = signal ? { signal } : {}
    // For an empty question the library would write a space, and a line of the log would follow it.
    const line =
      question === ''
        ? once(reader, 'line', options).then(([typed]) => String(typed))
        : reader.question(`${question} `, options)
    return await Promise.race([line, interrupted])
  } catch (error) {
    throw signal?.aborted ? signal.reason : error
  } finally {
    reader.close()
  }
}
