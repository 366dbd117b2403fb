/** The first message of a run, and the files that it and later messages name. Source: docs/design/models-and-tools.md#prompts */
import { isJsonObject, jsonDepth, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { isFileRef } from '../../spec/file.ts'
import type { RunStep } from '../../spec/step.ts'
import { onlyItem } from '../../base/values/collections.ts'

/** If the input has only this property and it is text, that text is the message. Source: docs/design/models-and-tools.md#prompts */
const MESSAGE_PROPERTIES: ReadonlySet<string> = new Set(['message', 'prompt', 'text', 'question', 'task'])

/**
 * An input whose indented text could be longer is not indented: a line for each bracket makes 40 MB of a megabyte of lists in
 * lists. A megabyte of ordinary rows stays below it.
 */
const MAX_INDENTED_LENGTH = 8 * 1024 * 1024

/** First user message of a run. */
export function firstMessage(input: JsonObject): string {
  const entries = Object.entries(input)
  if (entries.length === 0) return 'Begin.'
  const [key = '', value] = onlyItem(entries) ?? []
  if (MESSAGE_PROPERTIES.has(key) && typeof value === 'string') return value
  const text = JSON.stringify(input)
  const longest = text.length * (1 + 2 * jsonDepth(text))
  return longest > MAX_INDENTED_LENGTH ? text : JSON.stringify(input, null, 2)
}

/** Leaf names of the files marked anywhere in a value, in order. */
export function fileNamesIn(value: JsonValue): readonly string[] {
  const names: string[] = []
  const visit = (each: JsonValue): void => {
    if (typeof each !== 'object' || each === null) return
    if (isFileRef(each)) names.push(each.filename)
    else if (Array.isArray(each)) each.forEach(visit)
    else for (const key in each) visit(each[key]!)
  }
  visit(value)
  return names
}

/** Leaf names of the files that user messages carry. */
export const filesOf = (steps: readonly RunStep[]): readonly string[] => [
  ...new Set(steps.filter((step) => step.type === 'UserMessage').flatMap((step) => fileNamesOf(step))),
]

/** Leaf names of the files that a step carries. */
export function fileNamesOf(step: RunStep): string[] {
  const { files } = step.content
  return Array.isArray(files)
    ? files.flatMap((each) => (isJsonObject(each) && typeof each['filename'] === 'string' ? [each['filename']] : []))
    : []
}
