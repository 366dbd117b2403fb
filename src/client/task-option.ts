import { fail } from '../base/failure.ts'
import { nearestWord } from '../base/text/nearest-word.ts'

interface Option {
  readonly id: string
  readonly label: string
}

/**
 * An option by its id, its label or its position from 1.
 * @throws Failure `usage`, which lists the options
 */
export function readOption(options: readonly Option[], typed: string): Option {
  const same = (text: string) => text.toLowerCase() === typed.toLowerCase()
  const found =
    options.find(({ id }) => id === typed) ??
    options.find(({ id, label }) => same(id) || same(label)) ??
    (/^[1-9]\d*$/.test(typed) ? options[Number(typed) - 1] : undefined)
  if (found) return found
  const near = nearestWord(
    typed,
    options.flatMap(({ id, label }) => [id, label]),
  )
  const listed = options.map(({ id, label }, at) => `${at + 1} ${id} "${label}"`).join(', ')
  throw fail(
    'usage',
    { what: `There is no option "${typed}"; options: ${listed}.` },
    near ? { fix: `Did you mean ${near}?` } : {},
  )
}
