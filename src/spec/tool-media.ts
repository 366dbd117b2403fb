/**
 * Images, sounds and PDFs that a tool answered. Their bytes are kept beside the result, in the part of its step that only the engine
 * reads: timeline, events and policies see a note in their place.
 */
import { isJsonObject, type JsonObject } from '../base/json/json.ts'
import { fromJsonList } from '../base/json/typed-json.ts'

export const MEDIA_KINDS = ['image', 'audio', 'pdf'] as const
export type MediaKind = (typeof MEDIA_KINDS)[number]

/** One of them, as its step keeps it. */
export type ToolMedia = {
  readonly kind: MediaKind
  /** As the bytes say, whatever the tool called it. */
  readonly mediaType: string
  /** Base64. */
  readonly data: string
  /** Of an image, in pixels, where its bytes say so. */
  readonly longestEdge?: number
}

/** Kept of one answer. Their bytes are bounded by those of the answer. */
export const MOST_MEDIA_OF_CALL = 8
/** Kept of one run, in characters of base64: a run is in memory as a whole. */
export const MOST_MEDIA_OF_RUN: number = 32 * 1024 * 1024

export const mediaBytes = ({ data }: ToolMedia): number => Buffer.byteLength(data, 'base64')

/** Names one for people and models. */
export const describeMedia = (media: ToolMedia): string => `${media.mediaType}, ${mediaBytes(media)} bytes`

/** The hidden part of a step with a result. @param leftOut how many the run had no room for */
export const toHiddenMedia = (media: readonly ToolMedia[], leftOut: number): JsonObject => ({
  media: [...media],
  ...(leftOut > 0 && { left_out: leftOut }),
})

/** How many media the run had no room for, in place of which the model gets a line that says so. */
export const mediaLeftOutOf = (hidden: JsonObject | undefined): number => Number(hidden?.['left_out'] ?? 0)

/** The media that a step keeps. */
export function mediaOf(hidden: JsonObject | undefined): readonly ToolMedia[] {
  const media = hidden?.['media']
  return Array.isArray(media) ? fromJsonList<ToolMedia>(media.filter(isJsonObject)) : []
}
