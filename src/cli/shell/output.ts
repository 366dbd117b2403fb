/** Output of a command: the answer on stdout, messages on stderr. Source: docs/design/command-line.md#streams */
import { toJsonLine } from '../../base/json/json-line.ts'
import { fail } from '../../base/failure.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { wrapMessage } from '../../terminal/message.ts'
import type { OutputSink } from '../../terminal/output-sink.ts'
import { liveScreens } from './screen/live-screens.ts'
import type { OutputMode } from './mode.ts'

/** @typeParam Answer what the command prints as JSON; `never` where it prints none */
export interface CommandOutput<Answer = never> {
  /** A line of the answer. */
  readonly line: (text: string) => void
  /** Lines of the answer that are read and not copied: a terminal breaks them between words. */
  readonly prose: (text: string) => void
  /** The one JSON document of the answer; `--fields` and `--jq` apply. */
  readonly json: (value: Answer) => Promise<void>
  /** One line of JSON in a stream, written immediately. */
  readonly ndjson: (value: Answer) => Promise<void>
  /** A line for people, on stderr. */
  readonly message: (text: string) => void
  /** As `message`, unless `--quiet`. */
  readonly hint: (text: string) => void
}

export function createOutput(stdout: OutputSink, stderr: OutputSink, mode: OutputMode): CommandOutput<unknown> {
  const filtered = async (value: unknown): Promise<readonly unknown[]> => {
    const chosen = mode.fields ? choose(value, mode.fields) : value
    return mode.jq === undefined ? [chosen] : await jq(chosen, mode.jq)
  }
  const print = (text: string): void => {
    const screen = liveScreens.get(stderr)
    const shown = forReader(stderr, text)
    if (screen) screen.lines(shown)
    else stderr.write(`${shown}\n`)
  }
  const forReader = (sink: OutputSink, text: string): string =>
    sink.isTTY && !mode.accessible ? wrapMessage(text, sink.width) : text
  return {
    line: (text) => stdout.write(`${text}\n`),
    prose: (text) => stdout.write(`${forReader(stdout, text)}\n`),
    json: async (value) => {
      const indent = stdout.isTTY ? 2 : 0
      for (const each of await filtered(value)) stdout.write(`${JSON.stringify(each, null, indent)}\n`)
    },
    ndjson: async (value) => {
      for (const each of await filtered(value)) stdout.write(`${toJsonLine(each)}\n`)
    },
    message: print,
    hint: (text) => {
      if (!mode.quiet) print(text)
    },
  }
}

/** Keeps the named fields: of each item of a list, else of the object itself. */
function choose(value: unknown, fields: readonly string[]): unknown {
  if (!isJsonObject(value)) return value
  if (Array.isArray(value['items'])) return { ...value, items: value['items'].map((each) => pick(each, fields)) }
  return pick(value, fields)
}

const pick = (value: JsonValue, fields: readonly string[]): JsonValue =>
  isJsonObject(value)
    ? Object.fromEntries(fields.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name] ?? null]))
    : value

async function jq(value: unknown, expression: string): Promise<readonly unknown[]> {
  const { raw } = await import('jq-wasm')
  const lines = await raw(JSON.stringify(value), expression, ['-c']).catch((error: unknown) => {
    throw fail('usage', { what: `--jq: ${error instanceof Error ? error.message.trim() : String(error)}` })
  })
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
}
