/** Content of MCP results: parts of text, and media and files that no model reads as text. */
import { detectMediaType, longestEdgeOf } from '../../base/media-type.ts'
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { describeMedia, MOST_MEDIA_OF_CALL, type MediaKind, type ToolMedia } from '../../spec/tool-media.ts'

export interface McpContent {
  /** The whole, one part a line, where all parts are text. */
  readonly text?: string
  /** Texts, and other parts as the server wrote them, but without their bytes. */
  readonly parts: JsonValue[]
  /** Notes about what is no text. */
  readonly attached: JsonValue[]
  /** What models may take as such: images, sounds and PDFs. */
  readonly media: readonly ToolMedia[]
}

/**
 * Reads the content of a result: a list of parts, or one part, or text alone.
 * @param whyNoMedia why files of this answer are not kept, after "because"; undefined if they are
 */
export function readContent(content: JsonValue | undefined, whyNoMedia: string | undefined): McpContent {
  const given = [content ?? []].flat()
  const media: ToolMedia[] = []
  const read = given.map((part) => readPart(part, (file) => takeMedia(media, file, whyNoMedia)))
  const texts = read.flatMap(({ value }) => (typeof value === 'string' ? value : []))
  return {
    ...(texts.length === read.length && { text: texts.join('\n') }),
    parts: read.map(({ kind, value }) => (kind === 'part' ? value : { type: 'text', text: value })),
    attached: read.filter(({ kind }) => kind !== 'text').map(({ value }) => value),
    media,
  }
}

/** Text as a tool means it: a JSON object or list is one, if nothing of it changes; any other text stays text. */
export function readContentText(text: string): JsonValue {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return parseJson(text)
  } catch {
    return text
  }
}

interface ContentPart {
  /** `note`: stands for bytes. */
  readonly kind: 'text' | 'note' | 'part'
  readonly value: JsonValue
}

/** @param take takes the bytes of a file, or says why not */
function readPart(part: JsonValue, take: (encoded: string) => ToolMedia | string): ContentPart {
  if (typeof part === 'string') return { kind: 'text', value: part }
  if (!isJsonObject(part)) return { kind: 'part', value: part }
  const { type, text, resource } = part
  if (type === 'text' || (type === undefined && typeof text === 'string'))
    return { kind: 'text', value: typeof text === 'string' ? text : JSON.stringify(text ?? '') }
  const file = isJsonObject(resource) ? resource : part
  const encoded = typeof file['data'] === 'string' ? file['data'] : file['blob']
  if (typeof encoded !== 'string') return { kind: 'part', value: part }
  return { kind: 'note', value: describeFile(type, file, encoded, take(encoded)) }
}

/** Some servers write a whole data URL. */
const decodeFile = (encoded: string): Buffer => Buffer.from(encoded.replace(/^data:[^,]*,/, ''), 'base64')

/** Adds the file to the media, if it is some; otherwise says why not. */
function takeMedia(media: ToolMedia[], encoded: string, whyNone: string | undefined): ToolMedia | string {
  const bytes = decodeFile(encoded)
  const mediaType = detectMediaType(bytes)
  const kind = mediaType === undefined ? undefined : kindOf(mediaType)
  if (mediaType === undefined || kind === undefined) return 'its bytes are no image, sound or PDF that svc knows'
  if (whyNone !== undefined) return whyNone
  if (media.length === MOST_MEDIA_OF_CALL) return `svc keeps ${MOST_MEDIA_OF_CALL} of an answer`
  const longestEdge = longestEdgeOf(bytes, mediaType)
  const taken: ToolMedia = {
    kind,
    mediaType,
    data: bytes.toString('base64'),
    ...(longestEdge !== undefined && { longestEdge }),
  }
  media.push(taken)
  return taken
}

const kindOf = (mediaType: string): MediaKind | undefined =>
  mediaType === 'application/pdf'
    ? 'pdf'
    : (['image', 'audio'] as const).find((kind) => mediaType.startsWith(`${kind}/`))

/** @param taken the file among the media, or why it is not there */
function describeFile(
  type: JsonValue | undefined,
  { mimeType, uri, name }: JsonObject,
  encoded: string,
  taken: ToolMedia | string,
): string {
  const title = [type, uri ?? name].filter((each) => typeof each === 'string').join(' ') || 'file'
  if (typeof taken !== 'string') return `[${title}: ${describeMedia(taken)}]`
  const given = typeof mimeType === 'string' ? mimeType : 'of an unknown type'
  return `[${title}: ${given}, ${decodeFile(encoded).length} bytes, not shown, because ${taken}]`
}
