/** Texts of Tool documents that name arguments in braces: `refund:{args.order}`. Source: docs/design/policies.md#effect-keys */
import { readArgumentPath } from './path.ts'
import type { PathSegment } from './segment.ts'
import { splitBraces } from './split-braces.ts'

/** A template is read again for every call; longer ones are refused before that. */
const MAX_TEMPLATE = 1024

/** An argument that a template names. */
export interface ArgumentPlaceholder {
  readonly path: string
  readonly segments: readonly PathSegment[]
}

/** Texts and argument paths, in order. */
export type ArgumentTemplate = readonly (string | ArgumentPlaceholder)[]

export type ReadTemplate =
  | { readonly template: ArgumentTemplate }
  | { readonly problem: string; readonly placeholder?: string }

/**
 * Reads a template. A path without `args.` is none, so that a text says itself what it depends on.
 * @param noun begins the sentence about a problem: `An effect key`
 */
export function readArgumentTemplate(text: string, noun: string): ReadTemplate {
  if (text === '') return { problem: `${noun} is not empty.` }
  if (text.length > MAX_TEMPLATE) return { problem: `${noun} has at most ${MAX_TEMPLATE} characters.` }
  const template: (string | ArgumentPlaceholder)[] = []
  for (const part of splitBraces(text)) {
    if (part === undefined) return { problem: `A brace of ${noun.toLowerCase()} has no partner.` }
    if (typeof part === 'string') {
      template.push(part)
      continue
    }
    const { placeholder } = part
    const path = placeholder.startsWith('args') ? readArgumentPath(placeholder) : undefined
    if (!path || path.segments.length === 0)
      return {
        problem: `"${placeholder}" is no argument; a placeholder is an argument path: {args.order}.`,
        placeholder,
      }
    template.push({ path: path.text, segments: path.segments })
  }
  return { template }
}

/** The argument paths that a template names. */
export const placeholdersOf = (template: ArgumentTemplate): readonly ArgumentPlaceholder[] =>
  template.filter((part) => typeof part !== 'string')

/** Cached templates of all versions that a process runs, some hundred bytes each. */
const MAX_TEMPLATES = 1000

/** Remembers what was read. @returns reads a template of this kind */
export function cacheTemplates(noun: string): (text: string) => ReadTemplate {
  const known = new Map<string, ReadTemplate>()
  return (text) => {
    let read = known.get(text)
    if (!read) {
      if (known.size >= MAX_TEMPLATES) known.clear()
      known.set(text, (read = readArgumentTemplate(text, noun)))
    }
    return read
  }
}
