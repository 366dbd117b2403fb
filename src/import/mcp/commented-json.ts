/** JSON with comments and commas before closing brackets, as editors write it, with the places of its members. */
import { findExceededBound, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import { usageFailure } from '../../base/usage-failure.ts'

/** A member of an object in a text, by its places. */
export interface JsonMember {
  readonly name: string
  /** Of the quote before its name. */
  readonly start: number
  readonly valueStart: number
  /** Behind its value. */
  readonly end: number
}

export interface CommentedJson {
  readonly text: string
  readonly value: JsonObject
  /** Members of the object that begins at a place, in their order. */
  membersAt(place: number): readonly JsonMember[]
  /** Where the outermost object begins. */
  readonly start: number
}

/** Of a client's file or a list of tools. A server lists less: its pages are bounded, and their number. */
const MAX_CHARACTERS = 10 * 1024 * 1024
const BOUNDS = { maxLevels: 64, maxValues: 200_000 }

/** @throws Failure `usage` for a text that is no object */
export function parseCommentedJson(text: string, name: string): CommentedJson {
  if (text.length > MAX_CHARACTERS) throw usageFailure(`${name} is longer than ${MAX_CHARACTERS} characters.`)
  const plain = blankComments(text)
  let value: JsonValue
  try {
    value = JSON.parse(plain) as JsonValue
  } catch (error) {
    throw usageFailure(`${name} is no JSON: ${shortenText((error as Error).message.split('\n')[0]!, 200)}`)
  }
  if (!isJsonObject(value)) throw usageFailure(`${name} is no JSON object.`)
  const exceeded = findExceededBound(value, BOUNDS)
  if (exceeded !== undefined) throw usageFailure(`${name} is ${exceeded}.`)
  return { text, value, start: plain.indexOf('{'), membersAt: (place) => readMembers(plain, place) }
}

/** The text with blanks in place of what JSON does not know, so that all places stay. */
function blankComments(text: string): string {
  const parts = text.split('')
  const blank = (from: number, to: number): void => {
    for (let at = from; at < to; at++) if (parts[at] !== '\n' && parts[at] !== '\r') parts[at] = ' '
  }
  if (text.startsWith('\ufeff')) blank(0, 1)
  let comma: number | undefined
  for (let at = 0; at < text.length;) {
    const each = text[at]!
    if (each === '"') {
      at = endOfString(text, at)
      comma = undefined
    } else if (text.startsWith('//', at)) {
      const end = text.slice(at).search(/[\r\n]/)
      const to = end < 0 ? text.length : at + end
      blank(at, to)
      at = to
    } else if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2)
      const to = end < 0 ? text.length : end + 2
      blank(at, to)
      at = to
    } else {
      if ((each === '}' || each === ']') && comma !== undefined) blank(comma, comma + 1)
      if (each === ',') comma = at
      else if (!/\s/.test(each)) comma = undefined
      at++
    }
  }
  return parts.join('')
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

/** @param plain valid JSON */
function readMembers(plain: string, start: number): readonly JsonMember[] {
  const members: JsonMember[] = []
  let at = skipBlanks(plain, start + 1)
  while (plain[at] === '"') {
    const nameEnd = endOfString(plain, at)
    const valueStart = skipBlanks(plain, skipBlanks(plain, nameEnd) + 1)
    const end = endOfValue(plain, valueStart)
    members.push({ name: JSON.parse(plain.slice(at, nameEnd)) as string, start: at, valueStart, end })
    const next = skipBlanks(plain, end)
    at = plain[next] === ',' ? skipBlanks(plain, next + 1) : next
  }
  return members
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && /\s/.test(text[at]!)) at++
  return at
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length;) {
    const each = text[at]!
    if (each === '"') {
      at = endOfString(text, at)
      if (depth === 0) return at
      continue
    }
    if (each === '{' || each === '[') depth++
    else if (each === '}' || each === ']') {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (each === ',' || /\s/.test(each))) return at
    at++
  }
  return text.length
}
