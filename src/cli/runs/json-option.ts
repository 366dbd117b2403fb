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
  return parseJsonInput(await givenText(call, text), what, anyNumber)
}

async function givenText(call: Pick<CommandContext, 'io' | 'cwd'>, text: string): Promise<string> {
  if (text === '-') return await call.io.stdin.text()
  return text.startsWith('@') ? await readText(text.slice(1), call) : text
}
