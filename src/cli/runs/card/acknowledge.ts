import { unlessLeft, type Prompts } from '../../shell/io.ts'
import type { JsonValue } from '../../../base/json/json.ts'
import { findKeyArgument } from '../../../view/task/task-subject.ts'
import { safeText } from '../../../base/text/escape-text.ts'

/**
 * Where a policy requires comprehension, the approver types the key fact: the first number among the arguments, else the
 * first text. True when it was typed exactly.
 */
export async function askAcknowledgement(
  args: JsonValue | undefined,
  prompts: Pick<Prompts, 'text'>,
  signal: AbortSignal,
): Promise<boolean> {
  const fact = findKeyArgument(args)
  const question = fact ? `To approve, type ${safeText(fact.name)}:` : 'To approve, type yes:'
  const typed = await unlessLeft(prompts.text(question, signal))
  return typed?.trim() === String(fact?.value ?? 'yes')
}
