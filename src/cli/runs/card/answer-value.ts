/** Reads what a person typed as the value that a task asks for. */
import { fail } from '../../../base/failure.ts'
import { InexactNumberError, isExactNumber } from '../../../base/json/exact-number.ts'
import { parseJson as parse, type JsonValue } from '../../../base/json/json.ts'
import type { TaskDecision } from '../../../client/index.ts'
import type { QuestionField } from '../../../spec/server-question.ts'
import type { ShownTask } from '../../../spec/task.ts'
import { readTypedNumber } from '../../shell/numbers.ts'
import { readOption } from '../../../client/task-option.ts'

export function jsonOrText(typed: string): JsonValue {
  try {
    return parse(typed)
  } catch (error) {
    if (error instanceof InexactNumberError) throw fail('usage', { what: `The result is refused: ${error.message}.` })
    return typed
  }
}

/**
 * Parses the typed answer by the kind of the task.
 * @throws Failure `usage`
 */
export function valueOf(kind: string, options: ShownTask['options'], typed: string): TaskDecision {
  if (options && options.length > 0) return { selectedOptionId: readOption(options, typed).id }
  if (kind === 'number') return { numberValue: readNumber(typed) }
  return { textValue: typed }
}

function readNumber(typed: string): number {
  const value = readTypedNumber(typed)
  if (value === undefined) throw fail('usage', { what: `"${typed}" is not a number; use a point as decimal mark.` })
  if (!isExactNumber(typed.trim())) throw fail('usage', { what: `The number ${typed.trim()} cannot be kept exactly.` })
  return value
}

/**
 * Parses what was typed for one field of a form; choices of a list are separated by commas.
 * @throws Failure `usage`
 */
export function fieldValueOf({ name, schema }: QuestionField, typed: string): JsonValue {
  switch (schema['type']) {
    case 'number':
    case 'integer':
      return readNumber(typed)
    case 'array':
      return typed.split(',').map((each) => each.trim())
    case 'boolean':
      if (/^(?:y|yes|true)$/i.test(typed)) return true
      if (/^(?:n|no|false)$/i.test(typed)) return false
      throw fail('usage', { what: `${name} is yes or no.` })
    default:
      return typed
  }
}
