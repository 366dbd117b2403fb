/**
 * Values in a request as OpenAPI writes them: style and explode, by the expansions of RFC 6570.
 * The table "Style Examples" of OpenAPI 3.1.1 is the measure. Source: RFC 6570
 */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { WrittenStyle } from '../../spec/project/operation-record.ts'

/** A value has no form in its style. The message says why. */
export class StyleError extends Error {
  override readonly name = 'StyleError'
}

/** Escapes one name or value. */
export type EscapePart = (text: string) => string

/** Escapes all but the unreserved characters of RFC 3986: `encodeURIComponent` leaves five more. */
export const escapeUriPart: EscapePart = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** As `escapeUriPart`, but keeps reserved characters that neither end a query nor divide its fields. */
export const escapeReservedPart: EscapePart = (text) =>
  escapeUriPart(text).replace(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/g, (each) => decodeURIComponent(each))

/** Headers are not percent-encoded; a character that could end one is refused when the request is made. */
export const keepPart: EscapePart = (text) => text

/** The part of a path for one parameter. */
export function writePathPart(name: string, value: JsonValue, { style, explode }: WrittenStyle): string {
  const key = escapeUriPart(name)
  if (style === 'json') return escapeUriPart(JSON.stringify(value))
  const { items, pairs, text } = partsOf(value, style, escapeUriPart)
  if (style === 'label') {
    if (text !== undefined) return `.${text}`
    const parts = pairs ? pairs.map((pair) => pair.join(explode ? '=' : ',')) : (items ?? [])
    return `.${parts.join(explode ? '.' : ',')}`
  }
  if (style === 'matrix') {
    const field = (of: string, each: string): string => (each === '' ? `;${of}` : `;${of}=${each}`)
    if (text !== undefined) return field(key, text)
    if (!explode) return field(key, (pairs?.flat() ?? items ?? []).join(','))
    return pairs
      ? pairs.map(([of, each]) => field(of, each)).join('')
      : (items ?? []).map((each) => field(key, each)).join('')
  }
  return writeSimple(value, explode, escapeUriPart)
}

/** A value in style `simple`, as in headers. */
export function writeSimple(value: JsonValue, explode: boolean, escape: EscapePart): string {
  const { items, pairs, text } = partsOf(value, 'simple', escape, ',')
  return text ?? (pairs ? pairs.map((pair) => pair.join(explode ? '=' : ',')) : (items ?? [])).join(',')
}

/** Fields of a query, a cookie or a form, each a name and a value. None for an array or an object without members. */
export function writeFields(
  name: string,
  value: JsonValue,
  { style, explode }: WrittenStyle,
  escape: EscapePart = escapeUriPart,
): readonly (readonly [name: string, value: string])[] {
  const key = escapeUriPart(name)
  if (style === 'json') return [[key, escape(JSON.stringify(value))]]
  if (style === 'deepObject') return deepFields(name, value, escape, 0)
  const delimiter = DELIMITERS[style]
  const { items, pairs, text } = partsOf(value, style, escape, delimiter?.plain)
  if (text !== undefined) return [[key, text]]
  if (explode) return pairs ?? (items ?? []).map((each) => [key, each] as const)
  const all = pairs?.flat() ?? items ?? []
  return all.length === 0 ? [] : [[key, all.join(delimiter?.written ?? ',')]]
}

/** Between the items of one field. Unlike a comma, the item cannot contain it in another spelling. */
const DELIMITERS: Readonly<Record<string, { readonly plain: string; readonly written: string }>> = {
  spaceDelimited: { plain: ' ', written: '%20' },
  pipeDelimited: { plain: '|', written: '%7C' },
}

/** Deepest nesting of an object in a query or a form. */
const MAX_LEVELS = 16

/** `filter[a][b]=1`, and `filter[list][0]=1`, which the specification leaves open. */
function deepFields(name: string, value: JsonValue, escape: EscapePart, level: number): (readonly [string, string])[] {
  if (level > MAX_LEVELS) throw new StyleError(`it is nested deeper than ${MAX_LEVELS}`)
  if (value === null) return []
  if (!Array.isArray(value) && !isJsonObject(value)) return [[escapeUriPart(name), escape(String(value))]]
  return Object.entries(value).flatMap(([key, each]) => deepFields(`${name}[${key}]`, each, escape, level + 1))
}

interface StyledParts {
  readonly text?: string
  readonly items?: readonly string[]
  readonly pairs?: readonly (readonly [string, string])[]
}

/** @param delimiter refused in items where it is not escaped, because the receiver would read two items */
function partsOf(value: JsonValue, style: string, escape: EscapePart, delimiter?: string): StyledParts {
  const part = (text: string): string => {
    const escaped = escape(text)
    const isAmbiguous = delimiter !== undefined && (DELIMITERS[style] ? text : escaped).includes(delimiter)
    if (isAmbiguous) throw new StyleError(`an item contains "${delimiter}", which divides items in style ${style}`)
    return escaped
  }
  const scalar = (each: JsonValue): string => {
    if (typeof each === 'object') throw new StyleError(`style ${style} has no form for a value inside a value`)
    return part(String(each))
  }
  if (Array.isArray(value)) return { items: value.filter((each) => each !== null).map(scalar) }
  if (isJsonObject(value)) {
    const members = Object.entries(value).filter(([, each]) => each !== null)
    return { pairs: members.map(([key, each]) => [part(key), scalar(each)] as const) }
  }
  return { text: value === null ? '' : escape(String(value)) }
}
