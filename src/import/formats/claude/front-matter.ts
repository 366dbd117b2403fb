/** Markdown with a mapping of YAML before it, as agents and skills are written. */
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { parseSource } from '../../read-source.ts'

export interface MarkdownFile {
  readonly fields: JsonObject
  readonly body: string
}

const MAX_FIELDS = 64 * 1024

/** @throws Failure `usage` for front matter that cannot be read */
export function readMarkdown(text: string, path: string): MarkdownFile {
  const match = /^---[ \t]*\n([\s\S]*?)(?:^|\n)---[ \t]*(?:\n|$)/.exec(text)
  if (!match) return { fields: {}, body: text }
  const [whole, written = ''] = match
  if (written.length > MAX_FIELDS)
    throw usageFailure(`${path}: its front matter is longer than ${MAX_FIELDS} characters.`)
  return { fields: readFields(written, path), body: text.slice(whole.length) }
}

function readFields(written: string, path: string): JsonObject {
  if (written.trim() === '') return {}
  let fields
  try {
    fields = parseSource(written, `${path}: its front matter`)
  } catch (error) {
    // Many files have descriptions with a colon and no quotes, which is not YAML; programs read them line by line.
    const lines = readLines(written)
    if (lines === undefined) throw error
    return lines
  }
  if (!isJsonObject(fields)) throw usageFailure(`${path}: its front matter is no mapping.`)
  return fields
}

/** `name: text` on each line. Undefined where a line is anything else, such as a list. */
function readLines(written: string): JsonObject | undefined {
  const fields = new Map<string, string>()
  for (const line of written.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const match = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/.exec(line)
    if (!match || fields.has(match[1]!) || /^[&*!|>[{]/.test(match[2] ?? '')) return undefined
    fields.set(match[1]!, (match[2] ?? '').trim())
  }
  return Object.fromEntries(fields)
}
