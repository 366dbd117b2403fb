import { isJsonObject, type JsonValue } from '../../base/json.ts'
import type { TaskContent } from '../../spec/api.ts'
import { safeText } from '../../terminal/text.ts'
import type { Io } from '../shell/io.ts'

/**
 * Where a policy requires comprehension, the approver types the key fact: the first number among the arguments, else the
 * first text. True when it was typed exactly.
 */
export async function askAcknowledgement(task: TaskContent, io: Io, signal: AbortSignal): Promise<boolean> {
  const fact = keyFact(task.arguments)
  const question = fact ? `To approve, type ${safeText(fact.name)}:` : 'To approve, type yes:'
  const typed = await io.prompts.text(question, signal)
  return typed.trim() === (fact?.value ?? 'yes')
}

function keyFact(args: JsonValue | undefined): { readonly name: string; readonly value: string } | undefined {
  if (!isJsonObject(args)) return undefined
  const entries = Object.entries(args)
  const found =
    entries.find(([, value]) => typeof value === 'number') ??
    entries.find(([, value]) => typeof value === 'string' && value !== '')
  return found && { name: found[0], value: typeof found[1] === 'string' ? found[1] : JSON.stringify(found[1]) }
}
