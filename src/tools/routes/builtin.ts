import { cutText } from '../../base/text/cut-text.ts'
import { Failure, isFailure } from '../../base/failure.ts'
import { isJsonObject } from '../../base/json/json.ts'
import { returnedOutcome } from '../outcome.ts'
import type { ToolInvocation, ToolOutcome } from '../tool.ts'

/** Reads a workspace file of the session; undefined when it has none of that name. */
export type ReadFile = (
  sessionId: string,
  filename: string,
) => Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined>

/** Most characters per call; the model may ask for fewer. */
const PAGE_CHARACTERS = 64 * 1024

/**
 * `svc.read_file {filename, offset?, length?}`: reads text of a file; offsets count characters.
 * Source: docs/design/models-and-tools.md#built-in-tools
 */
export async function readWorkspaceFile(readFile: ReadFile, invocation: ToolInvocation): Promise<ToolOutcome> {
  const { filename, offset, length } = isJsonObject(invocation.arguments) ? invocation.arguments : {}
  if (typeof filename !== 'string') return returnedOutcome('svc.read_file needs a filename.', true, 0)
  const file = await readFile(invocation.run.sessionId, filename).catch((error: unknown) => {
    if (isFailure(error, 'bucket_unusable')) return error
    throw error
  })
  if (file instanceof Failure) return { at: 'not_sent', code: 'unreachable', error: file.message }
  if (!file) return returnedOutcome(`This session has no file named ${filename}.`, true, 0)
  const text = decodeText(file.bytes)
  if (text === undefined)
    return returnedOutcome(`${filename} (${file.mediaType}, ${file.bytes.byteLength} bytes) is not text.`, true, 0)
  const from = Math.min(toNaturalNumber(offset) ?? 0, text.length)
  const { page, next } = pageOf(text, from, Math.min(toNaturalNumber(length) ?? PAGE_CHARACTERS, PAGE_CHARACTERS))
  return returnedOutcome(
    {
      filename,
      mediaType: file.mediaType,
      text: page,
      offset: from,
      totalCharacters: text.length,
      ...(next < text.length && { nextOffset: next }),
    },
    false,
    0,
  )
}

/** Characters from an offset; the next page begins where this one ends, so a pair at its end belongs to the next. */
function pageOf(text: string, from: number, most: number): { readonly page: string; readonly next: number } {
  const rest = text.slice(from)
  const { text: page } = cutText(rest, most)
  // A page of one code unit could never hold a pair.
  const whole = page === '' && most > 0 ? cutText(rest, most + 1).text : page
  return { page: whole, next: from + whole.length }
}

const toNaturalNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined

/** Undefined when the bytes are not UTF-8 text. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}
