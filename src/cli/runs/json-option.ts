/** JSON that an option gives: as it is, from a file, or from standard input. */
import type { JsonValue } from '../../base/json/json.ts'
import type { CommandContext } from '../shell/command.ts'
import { parseJsonInput, readText } from './input.ts'

/** Accepts numbers outside the safe range: conditions on them are unknown. */
const anyNumber = (text: string): JsonValue => JSON.parse(text) as JsonValue

/** JSON, `@FILE`, or `-` for standard input. */
export async function readJsonOption(
  call: Pick<CommandContext, 'io' | 'cwd'>,
  text: string,
  what: string,
): Promise<JsonValue> {
  const given =
    text === '-' ? await call.io.stdin.text() : text.startsWith('@') ? await readText(text.slice(1), call) : text
  return parseJsonInput(given, what, anyNumber)
}
