/** Content of MCP results: parts of text, and media and files that no model reads as text. */
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../base/json/json.ts'

export interface McpContent {
  /** The whole, one part a line, where all parts are text. */
  readonly text?: string
  /** Texts, and other parts as the server wrote them, but without their bytes. */
  readonly parts: JsonValue[]
  /** Notes about what is no text. */
  readonly attached: JsonValue[]
}

/** Reads the content of a result: a list of parts, or one part, or text alone. */
export function readContent(content: JsonValue | undefined): McpContent {
  const given = Array.isArray(content) ? content : content === undefined || content === null ? [] : [content]
  const read = given.map(readPart)
  const texts = read.flatMap(({ value }) => (typeof value === 'string' ? value : []))
  return {
    ...(texts.length === read.length && { text: texts.join('\n') }),
    parts: read.map(({ kind, value }) => (kind === 'part' ? value : { type: 'text', text: value })),
    attached: read.filter(({ kind }) => kind !== 'text').map(({ value }) => value),
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

function readPart(part: JsonValue): ContentPart {
  if (typeof part === 'string') return { kind: 'text', value: part }
  if (!isJsonObject(part)) return { kind: 'part', value: part }
  const { type, text, resource } = part
  if (type === 'text' || (type === undefined && typeof text === 'string'))
    return { kind: 'text', value: typeof text === 'string' ? text : JSON.stringify(text ?? '') }
  const file = isJsonObject(resource) ? resource : part
  const bytes = bytesOf(file)
  return bytes === undefined ? { kind: 'part', value: part } : { kind: 'note', value: describeBytes(type, file, bytes) }
}

/** Size of the bytes that a part has as base64 text. */
function bytesOf({ data, blob }: JsonObject): number | undefined {
  const encoded = typeof data === 'string' ? data : blob
  return typeof encoded === 'string' ? Buffer.byteLength(encoded, 'base64') : undefined
}

function describeBytes(type: JsonValue | undefined, { mimeType, uri, name }: JsonObject, bytes: number): string {
  const title = [type, uri ?? name].filter((each) => typeof each === 'string').join(' ')
  const kind = typeof mimeType === 'string' ? mimeType : 'of an unknown type'
  return `[${title || 'file'}: ${kind}, ${bytes} bytes, not shown]`
}
