/** Texts of Tool documents that name arguments in braces: `refund:{args.order}`. Source: docs/design/policies.md#effect-keys */
import { readArgumentPath } from './path.ts'

/** A template is read again for every call; longer ones are refused before that. */
const MAX_TEMPLATE = 1024

/** Texts and argument paths, in order. */
export type ArgumentTemplate = readonly (string | { readonly path: string })[]

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
  const template: (string | { path: string })[] = []
  let rest = text
  while (rest !== '') {
    const [plain] = /^[^{}]*/.exec(rest)!
    if (plain !== '') template.push(plain)
    rest = rest.slice(plain.length)
    if (rest === '') break
    const [whole, inner] = /^\{([^{}]*)\}/.exec(rest) ?? []
    if (whole === undefined || inner === undefined)
      return { problem: `A brace of ${noun.toLowerCase()} has no partner.` }
    const path = inner.startsWith('args') ? readArgumentPath(inner) : undefined
    if (!path || path.segments.length === 0)
      return {
        problem: `"${inner}" is no argument; a placeholder is an argument path: {args.order}.`,
        placeholder: inner,
      }
    template.push({ path: path.text })
    rest = rest.slice(whole.length)
  }
  return { template }
}

/** The argument paths that a template names. */
export const placeholdersOf = (template: ArgumentTemplate): readonly string[] =>
  template.flatMap((part) => (typeof part === 'string' ? [] : [part.path]))

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
