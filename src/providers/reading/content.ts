/** Content as servers send it: one text, parts, an object or nothing. */
import { isJsonObject } from '../../base/json/json.ts'
import { describeForm, FormProblem } from './form-problem.ts'

export interface ReadContent {
  readonly text: string
  /** Thinking among the parts, which is not displayed. */
  readonly hidden: string
}

const NOTHING: ReadContent = { text: '', hidden: '' }

/**
 * The text of a content. Parts that are no text, such as references and images, add none.
 * @throws FormProblem for a number or a boolean, and for an object without a text
 */
export function readMessageContent(value: unknown, place: string): ReadContent {
  if (value === undefined || value === null) return NOTHING
  if (typeof value === 'string') return { text: value, hidden: '' }
  if (Array.isArray(value)) return joinContents(value.map((part, at) => readPart(part, `${place}[${at}]`)))
  if (!isJsonObject(value)) throw new FormProblem(place, `${describeForm(value)}, not a text`)
  const part = readPart(value, place)
  if (part === NOTHING) throw new FormProblem(place, 'is an object without a text')
  return part
}

function readPart(part: unknown, place: string): ReadContent {
  if (!isJsonObject(part)) return readMessageContent(part, place)
  for (const name of HIDDEN_MEMBERS) if (name in part) return hide(readMessageContent(part[name], `${place}.${name}`))
  for (const name of TEXT_MEMBERS) if (name in part) return readMessageContent(part[name], `${place}.${name}`)
  return NOTHING
}

const HIDDEN_MEMBERS = ['thinking', 'reasoning'] as const
/** `value` is the text within the `text` of an assistant's message. */
const TEXT_MEMBERS = ['text', 'refusal', 'content', 'value'] as const

const hide = ({ text, hidden }: ReadContent): ReadContent => ({ text: '', hidden: text + hidden })

const joinContents = (parts: readonly ReadContent[]): ReadContent => ({
  text: parts.map(({ text }) => text).join(''),
  hidden: parts.map(({ hidden }) => hidden).join(''),
})
