/**
 * Media in results of tools, as far as the model takes them and a request has room. In place of the others stands a line of text that
 * says why. The newest are sent: models look at what they asked for last.
 */
import { describeMedia, mediaBytes, type ToolMedia } from '../spec/tool-media.ts'
import type { CompletionRequest, ModelMessage, ModelProvider } from './provider.ts'
import type { AcceptedMedia } from './vendor-media.ts'

/** Of one request. Bedrock takes 20 images; Gemini 20 MB in all, which are 15 MB before base64. */
const MOST_MEDIA = 20
const MOST_MEDIA_BYTES = 12 * 1024 * 1024

/** Wraps a provider so that it gets only what the model takes. */
export const withToolMedia = (provider: ModelProvider, accepts: (model: string) => AcceptedMedia): ModelProvider => ({
  complete: (request, signal) => provider.complete(toAcceptedMedia(request, accepts(request.model.name)), signal),
})

function toAcceptedMedia(request: CompletionRequest, accepted: AcceptedMedia): CompletionRequest {
  if (!request.messages.some(hasMedia)) return request
  const { provider, name } = request.model
  const room = { parts: MOST_MEDIA, bytes: MOST_MEDIA_BYTES }
  const chosen: ModelMessage[] = []
  for (const message of request.messages.toReversed()) {
    if (!hasMedia(message)) {
      chosen.push(message)
      continue
    }
    const { media, ...rest } = message
    const sent: ToolMedia[] = []
    const lines: string[] = []
    for (const each of media) {
      const why = whyNotSent(each, accepted, `${provider}/${name}`, room)
      if (why !== undefined) lines.push(`[${describeMedia(each)}: not shown, because ${why}]`)
      else {
        sent.push(each)
        room.parts--
        room.bytes -= mediaBytes(each)
      }
    }
    chosen.push({
      ...rest,
      content: [rest.content, ...lines].join('\n'),
      ...(sent.length > 0 && { media: sent }),
    })
  }
  return { ...request, messages: chosen.toReversed() }
}

type ToolMessage = Extract<ModelMessage, { role: 'tool' }>

const hasMedia = (message: ModelMessage): message is ToolMessage & Required<Pick<ToolMessage, 'media'>> =>
  message.role === 'tool' && message.media !== undefined

/** Continues "not shown, because". */
function whyNotSent(
  media: ToolMedia,
  { kinds, types, longestEdge }: AcceptedMedia,
  model: string,
  room: { readonly parts: number; readonly bytes: number },
): string | undefined {
  if (!kinds.includes(media.kind) || !types.includes(media.mediaType))
    return `${model} does not take ${media.mediaType}`
  if (longestEdge !== undefined && (media.longestEdge ?? 0) > longestEdge)
    return `its longer side has ${media.longestEdge} pixels, and ${model} takes ${longestEdge}`
  // Redaction may have replaced a part of it that spells a secret.
  if (!isBase64(media.data)) return 'it is not whole'
  if (room.parts === 0) return `a request has room for ${MOST_MEDIA} files of tools`
  if (room.bytes < mediaBytes(media)) return `a request has room for ${MOST_MEDIA_BYTES} bytes of files of tools`
  return undefined
}

/** Whether a text of any length is base64: a regular expression that repeats over megabytes can run out of stack. */
function isBase64(text: string): boolean {
  const end = text.search(/[^A-Za-z0-9+/]/)
  return end === -1 ? text !== '' : end > 0 && ['=', '=='].includes(text.slice(end))
}

/** The request without media, for an estimate that must not exceed what is sent. */
export const withoutMedia = (request: CompletionRequest): CompletionRequest => ({
  ...request,
  messages: request.messages.map((message) => {
    if (!hasMedia(message)) return message
    const { media: _, ...rest } = message
    return rest
  }),
})
