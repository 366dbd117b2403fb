/**
 * The one way by which text reaches a terminal. Whatever a terminal obeys is written as an escape, wherever the text came from
 * and whether or not a command remembered to escape it. The escapes are those of JSON, so JSON stays the same value.
 */
import { escapeAsJson, isPlain } from '../base/text/escape-text.ts'
import type { OutputSink } from './output-sink.ts'

/** What styles of `createTheme` begin and end with; no style of them hides text. */
export const STYLE_SEQUENCES: readonly string[] = [
  ['1', '2', '7', '22', '27', '31', '32', '33', '35', '36', '39'],
  ['35', '37', '167', '170', '172'].map((color) => `38;5;${color}`),
  ['24;138;66', '22;129;168', '224;49;49', '181;70;200', '194;89;10'].map((color) => `38;2;${color}`),
].flatMap((numbers) => numbers.map((each) => `\x1b[${each}m`))

/** Splits at each style, and keeps it at the odd places. */
const STYLE = new RegExp(`(${STYLE_SEQUENCES.map((each) => each.replace('[', String.raw`\[`)).join('|')})`)

/** Text with the styles of the theme, in which nothing else has an effect but line breaks and tabs. */
export function escapeForTerminal(text: string): string {
  if (isPlain(text)) return text
  return text
    .split(STYLE)
    .map((part, at) => (at % 2 === 1 ? part : escapeAsJson(part.replaceAll('\r\n', '\n'))))
    .join('')
}

/** Streams behind those of `guardSink`. */
const unguarded = new WeakMap<OutputSink, OutputSink>()

/** A stream that writes to a terminal only what `escapeForTerminal` makes of a text; to a pipe or file, the text itself. */
export function guardSink(sink: OutputSink): OutputSink {
  if (!sink.isTTY) return sink
  // Its size is read from the stream itself, since it changes.
  const guarded = Object.create(sink, {
    write: { value: (text: string) => sink.write(escapeForTerminal(text)) },
  }) as OutputSink
  unguarded.set(guarded, sink)
  return guarded
}

/** For screens, which move the cursor and pass each line through `escapeForTerminal` themselves. */
export const rawSinkOf = (sink: OutputSink): OutputSink => unguarded.get(sink) ?? sink
