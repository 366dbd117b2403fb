/** Messages in the form of the Converse API. */
import type {
  ContentBlock,
  DocumentFormat,
  ImageFormat,
  Message,
  ToolResultContentBlock,
} from '@aws-sdk/client-bedrock-runtime'
import { cutText } from '../../base/text/cut-text.ts'
import { alternatingTurns, isBlank, NOTHING_TO_READ, partsToRead } from '../alternating-turns.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ToolMedia } from '../../spec/tool-media.ts'
import type { MessagePart, ModelCall, ModelMessage } from '../provider.ts'

export const CACHE_POINT = { cachePoint: { type: 'default' as const } }

export const isClaude = (model: string): boolean => model.includes('anthropic.claude')
/** Other models refuse a request with cache points. */
export const hasCachePoints = (model: string): boolean => isClaude(model) || model.includes('amazon.nova')

export function toConverseMessages(messages: readonly ModelMessage[], cached: boolean): Message[] {
  const turns = alternatingTurns(messages, toBlocks)
  if (cached) turns.findLast(({ role }) => role === 'user')?.content.push(CACHE_POINT)
  return turns
}

function toBlocks(message: ModelMessage): ContentBlock[] {
  if (message.role === 'tool')
    return [
      {
        toolResult: {
          toolUseId: message.callId,
          // The API refuses blank text.
          content: [
            { text: isBlank(message.content) ? NOTHING_TO_READ : message.content },
            ...(message.media ?? []).map((each, at) => toResultBlock(each, `${message.callId} ${at + 1}`)),
          ],
          ...(message.isError && { status: 'error' as const }),
        },
      },
    ]
  if (message.role === 'user') {
    const blocks = partsToRead(message.parts).map(toPart)
    // A document needs a text beside it.
    const isBare = blocks.length > 0 && !blocks.some(({ text }) => text !== undefined)
    return isBare ? [{ text: 'See the files.' }, ...blocks] : blocks
  }
  const reasoning = message.hidden?.['reasoning']
  return [
    // Signed blocks come first and must be unchanged, or the vendor refuses the calls that follow them.
    ...(Array.isArray(reasoning) ? reasoning.map(toReasoning) : []),
    ...(isBlank(message.text) ? [] : [{ text: message.text }]),
    ...message.calls.map(toToolUse),
  ]
}

const toToolUse = ({ id, name, arguments: input }: ModelCall): ContentBlock => ({
  toolUse: { toolUseId: id, name, input: input as JsonObject },
})

/** A reasoning block as the step has it: the text with its signature, or redacted bytes in base64. */
function toReasoning(stored: JsonValue): ContentBlock {
  const { redacted, text = '', signature } = isJsonObject(stored) ? stored : {}
  if (typeof redacted === 'string')
    return { reasoningContent: { redactedContent: new Uint8Array(Buffer.from(redacted, 'base64')) } }
  return {
    reasoningContent: {
      reasoningText: {
        text: typeof text === 'string' ? text : '',
        ...(typeof signature === 'string' && { signature }),
      },
    },
  }
}

const IMAGE_FORMATS: Readonly<Record<string, ImageFormat>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

function toPart(part: MessagePart): ContentBlock {
  if (part.type === 'text') return { text: part.text }
  const { filename, mediaType, bytes } = part
  const format = IMAGE_FORMATS[mediaType]
  if (format) return { image: { format, source: { bytes } } }
  if (mediaType === 'application/pdf')
    return { document: { format: 'pdf' satisfies DocumentFormat, name: documentName(filename), source: { bytes } } }
  return { text: `File ${filename} (${mediaType}, ${bytes.byteLength} bytes) cannot be shown.` }
}

/** @param name of a document: unique in its request */
function toResultBlock({ mediaType, data }: ToolMedia, name: string): ToolResultContentBlock {
  const bytes = new Uint8Array(Buffer.from(data, 'base64'))
  const format = IMAGE_FORMATS[mediaType]
  return format
    ? { image: { format, source: { bytes } } }
    : {
        document: {
          format: 'pdf' satisfies DocumentFormat,
          name: documentName(name),
          source: { bytes },
        },
      }
}

/** The API accepts letters, digits, single spaces, hyphens, parentheses and brackets, at most 200. */
const documentName = (filename: string): string =>
  cutText(filename.replaceAll(/[^A-Za-z0-9()[\]-]+/g, ' ').trim(), 200).text || 'document'
