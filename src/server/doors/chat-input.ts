/** What a person wrote in a chat, as the input that an agent takes. Source: docs/design/http.md#doors-for-front-ends */
import { fail } from '../../base/failure.ts'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'

/** Properties that hold a message, in the order in which they are looked for. */
const MESSAGE_NAMES = ['message', 'text', 'prompt', 'question', 'query', 'request', 'input']

/**
 * An agent without an input contract takes `message`; one with a contract the property that holds a message, or the only text that it
 * requires. Where there is none, the message must be the JSON of the whole input.
 * @throws Failure `validation_failed`
 */
export function toChatInput({ id, inputContract }: AgentSnapshot, text: string): JsonObject {
  const whole = parseObject(text)
  if (!isJsonObject(inputContract)) return whole ?? { message: text }
  const name = messageProperty(inputContract)
  const isWhole = whole !== undefined && requiredOf(inputContract).every((each) => each in whole)
  if (name === undefined || (isWhole && name in whole)) {
    if (whole) return whole
    const wants = requiredOf(inputContract).join(', ') || 'an object'
    throw fail(
      'validation_failed',
      { what: `${id} takes no plain message.` },
      { fix: `Send its input as the JSON of an object, with ${wants}.` },
    )
  }
  return { [name]: text }
}

/** Undefined for a contract that asks for more than one text. */
function messageProperty(contract: JsonObject): string | undefined {
  const properties = isJsonObject(contract['properties']) ? contract['properties'] : {}
  const isText = (name: string): boolean => {
    const property = properties[name]
    return isJsonObject(property) && property['type'] === 'string'
  }
  const required = requiredOf(contract)
  if (required.length > 1) return undefined
  const [only] = required
  if (only !== undefined) return isText(only) ? only : undefined
  return MESSAGE_NAMES.find(isText) ?? (Object.keys(properties).length === 0 ? 'message' : undefined)
}

const requiredOf = ({ required }: JsonObject): readonly string[] =>
  Array.isArray(required) ? required.filter((each) => typeof each === 'string') : []

function parseObject(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
