/** Messages as Gemini's contents. */
import type { Content, Part } from '@google/genai'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { isBlank, partsToRead } from '../alternating-turns.ts'
import type { ToolMedia } from '../../spec/tool-media.ts'
import type { MessagePart, ModelCall, ModelMessage } from '../provider.ts'
import { restoreItems } from '../stored-items.ts'

/** User and model alternate: results of calls belong to the user, and adjacent messages of one role are merged. */
export function toContents(messages: readonly ModelMessage[], model: string): Content[] {
  const isNested = MULTIMODAL_RESPONSES.test(model)
  const contents: { role: 'user' | 'model'; parts: Part[] }[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'model' : 'user'
    const parts = toParts(message, isNested)
    if (parts.length === 0) continue
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts })
  }
  return contents
}

/** Models that take media within the response of a function. Source: ai.google.dev, "Multimodal function responses". */
const MULTIMODAL_RESPONSES = /^(?:models\/)?gemini-(?:[3-9]|\d\d)/

function toParts(message: ModelMessage, isNested: boolean): Part[] {
  if (message.role === 'tool') {
    const { callId: id, name, content, isError, media = [] } = message
    const response = isError ? { error: content } : { output: content }
    const within = media.filter(({ kind }) => isNested && kind !== 'audio')
    return [
      {
        functionResponse: {
          id,
          name,
          response,
          ...(within.length > 0 && { parts: within.map(toInlineData) }),
        },
      },
      // Other media stand beside the response.
      ...media.filter((each) => !within.includes(each)).map(toInlineData),
    ]
  }
  if (message.role === 'user') return partsToRead(message.parts).map(toPart)
  const stored = message.hidden?.['parts']
  if (Array.isArray(stored))
    return restoreItems(
      stored,
      message.calls,
      (part) => 'functionCall' in part,
      (call, part) => toFunctionCall(call, part['thoughtSignature']),
    )
  return [
    ...(isBlank(message.text) ? [] : [{ text: message.text }]),
    ...message.calls.map((call) => toFunctionCall(call)),
  ]
}

const toFunctionCall = ({ id, name, arguments: args }: ModelCall, signature?: JsonValue): Part => ({
  functionCall: { id, name, args: args as JsonObject },
  ...(typeof signature === 'string' && { thoughtSignature: signature }),
})

const toInlineData = ({ mediaType, data }: ToolMedia): Pick<Part, 'inlineData'> => ({
  inlineData: { mimeType: mediaType, data },
})

const toPart = (part: MessagePart): Part =>
  part.type === 'text'
    ? { text: part.text }
    : { inlineData: { mimeType: part.mediaType, data: Buffer.from(part.bytes).toString('base64') } }
