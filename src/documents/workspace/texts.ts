/** Every text of a document and of its instructions and schemas. */
import type { FindingPlace } from '../text/diagnostic.ts'
import { textsAt, type Document } from '../text/document.ts'
import { memoizePerObject } from './memoize.ts'
import { isAscii } from '../text/scripts.ts'
import { createSource, type SourceText } from '../text/source.ts'
import type { Workspace } from './workspace.ts'
import type { YamlNode } from '../text/node.ts'
import { pointerTo } from '../../base/json/pointer.ts'

export interface WrittenText {
  readonly text: string
  /** Into its document; empty for a line of another file. */
  readonly pointer: string
  readonly at: FindingPlace
  /** Place of a part of the text; the whole text where the part is escaped or spans two lines. */
  placeOf(part: string): FindingPlace
}

/**
 * Every text of a document, keys and values, and the lines of the instructions and schemas that it names.
 * @param may false for a text that cannot contain a match; its parts are then skipped
 */
export function writtenTexts(
  workspace: Workspace,
  document: Document,
  may: (text: string) => boolean,
): readonly WrittenText[] {
  const own = mayContain(document, may) ? document.memoize(textsIn) : NOTHING
  const named = namedTexts(workspace, document, may)
  return named.length === 0 ? own : [...own, ...named]
}

/** The lines of the files that a document names, without its own texts. */
export function namedTexts(
  workspace: Workspace,
  document: Document,
  may: (text: string) => boolean,
): readonly WrittenText[] {
  const files = namedFiles(workspace, document)
  if (files.length === 0) return NOTHING
  return files.flatMap((path) => {
    const text = workspace.text(path)
    return may(text) ? linesOf(path, text) : []
  })
}

/** False for a document whose own texts cannot contain a match. */
export const mayContain = (document: Document, may: (text: string) => boolean): boolean =>
  may(document.memoize(searchableText))

const NOTHING: readonly WrittenText[] = []

/** Where a document names files that belong to it. */
export const FILE_REFS = [
  'spec.instructions.ref',
  'output.schema.ref',
  'spec.tools.*.input_schema.ref',
  'spec.agents.*.input_schema.ref',
  'spec.input_schema.ref',
  'spec.output_schema.ref',
]

const namedFiles = memoizePerObject((workspace, document: Document): readonly string[] => {
  const paths: string[] = []
  for (let at = 0; at < FILE_REFS.length; at++) {
    const named = textsAt(document.value, FILE_REFS[at]!)
    for (let of = 0; of < named.length; of++) {
      const found = workspace.resolve(document, named[of]!)
      if ('path' in found) paths.push(found.path)
    }
  }
  return paths
})

/** All texts as one string for a quick search: the document as written, unless it has escapes. */
function searchableText(document: Document): string {
  const { source, root } = document
  // Only this document's part: a file may hold thousands of documents.
  const text = source.text.slice(root.start, root.end)
  if (!text.includes('\\')) return text
  return document
    .memoize(textsIn)
    .map((each) => each.text)
    .join('\n')
}

/** True for a document in ASCII only: it has no look-alike letters. */
export const isAsciiOnly = (document: Document): boolean => document.memoize(hasAsciiOnly)

const hasAsciiOnly = (document: Document): boolean => isAscii(document.memoize(searchableText))

function textsIn(document: Document): readonly WrittenText[] {
  const texts: WrittenText[] = []
  const visit = (node: YamlNode, pointer: string): void => {
    // The target of an alias is visited at its anchor.
    if (node.alias) return
    if (typeof node.value === 'string') texts.push(new LocatedText(document, node.value, pointer, node))
    if (node.members !== undefined)
      for (const member of node.members) {
        const below = pointerTo(pointer, member.key)
        texts.push(new LocatedText(document, member.key, below, member))
        visit(member.node, below)
      }
    if (node.items !== undefined)
      for (const [index, item] of node.items.entries()) visit(item, pointerTo(pointer, index))
  }
  visit(document.root, '')
  return texts
}

/** A text that computes its place on demand: most texts have no finding. */
class LocatedText implements WrittenText {
  readonly text: string
  readonly pointer: string
  readonly #document: Document
  readonly #node: { readonly start: number; readonly end: number }

  constructor(
    document: Document,
    text: string,
    pointer: string,
    node: { readonly start: number; readonly end: number },
  ) {
    this.text = text
    this.pointer = pointer
    this.#document = document
    this.#node = node
  }

  get at(): FindingPlace {
    const { path, source } = this.#document
    return { path, pointer: this.pointer, range: source.span(this.#node.start, this.#node.end) }
  }

  placeOf(part: string): FindingPlace {
    return partOf(this.#document.source, this.at, part)
  }
}

/** The place of a part of a text within its own place; the whole place where the part is not written literally. */
function partOf(source: SourceText, whole: FindingPlace, part: string): FindingPlace {
  const { start, end } = whole.range
  const at = source.text.slice(start.offset, end.offset).indexOf(part)
  const from = start.offset + at
  return at < 0 ? whole : { ...whole, range: source.span(from, from + part.length) }
}

/**
 * Finds the places of parts of a text, which must be requested from start to end: each search continues where the last one
 * ended. From the first part that is not written literally on, every place is the whole place.
 */
export function partsOf(
  source: SourceText,
  whole: FindingPlace,
  text: string,
): (start: number, length: number) => FindingPlace {
  let read = 0
  let written = whole.range.start.offset
  return (start, length) => {
    const part = text.slice(start, start + length)
    for (let at = read; at <= start; at = read) {
      const end = source.text.indexOf(part, written) + part.length
      if (end < part.length || end > whole.range.end.offset) {
        written = Infinity
        return whole
      }
      read = text.indexOf(part, at) + part.length
      written = end
    }
    return { ...whole, range: source.span(written - length, written) }
  }
}

function linesOf(path: string, text: string): WrittenText[] {
  const source = createSource(path, text)
  let offset = 0
  return text.split('\n').map((line) => {
    const start = offset
    offset += line.length + 1
    return {
      text: line,
      pointer: '',
      get at(): FindingPlace {
        return { path, pointer: '', range: source.span(start, start + line.trimEnd().length) }
      },
      placeOf(part: string): FindingPlace {
        return partOf(source, this.at, part)
      },
    }
  })
}
