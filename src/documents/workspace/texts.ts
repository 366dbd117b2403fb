/** Every text of a document and of its instructions and schemas. */
import type { FindingPlace } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
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
 * @param may false for a text that cannot contain a match: a document or file without one is skipped as a whole
 */
export function writtenTexts(
  workspace: Workspace,
  document: Document,
  may: (text: string) => boolean,
): readonly WrittenText[] {
  const { source, root } = document
  // Only this document's part: a file may hold thousands of documents.
  const written = source.text.slice(root.start, root.end)
  // Behind an escape there may be any character.
  const own = written.includes('\\') || may(written) ? textsIn(document) : []
  const files = namedFiles(workspace, document).map((path) => [path, workspace.text(path)] as const)
  return [...own, ...files.flatMap(([path, text]) => (may(text) ? linesOf(path, text) : []))]
}

/** Where a document names files that belong to it. */
export const FILE_REFS = [
  'spec.instructions.ref',
  'output.schema.ref',
  'spec.tools.*.input_schema.ref',
  'spec.agents.*.input_schema.ref',
  'spec.input_schema.ref',
  'spec.output_schema.ref',
]

const namedFiles = (workspace: Workspace, document: Document): readonly string[] =>
  FILE_REFS.flatMap((place) => document.texts(place)).flatMap(({ value }) => {
    const found = workspace.resolve(document, value)
    return 'path' in found ? [found.path] : []
  })

function textsIn({ source, root }: Document): readonly WrittenText[] {
  const texts: WrittenText[] = []
  const visit = (node: YamlNode, pointer: string): void => {
    // The target of an alias is visited at its anchor.
    if (node.alias) return
    if (typeof node.value === 'string') texts.push(writtenText(source, node.value, pointer, node))
    for (const member of node.members ?? []) {
      const below = pointerTo(pointer, member.key)
      texts.push(writtenText(source, member.key, below, member))
      visit(member.node, below)
    }
    for (const [index, item] of (node.items ?? []).entries()) visit(item, pointerTo(pointer, index))
  }
  visit(root, '')
  return texts
}

/** Its place is computed on demand: most texts have no finding. */
function writtenText(
  source: SourceText,
  text: string,
  pointer: string,
  { start, end }: { readonly start: number; readonly end: number },
): WrittenText {
  const at = (): FindingPlace => ({ path: source.path, pointer, range: source.span(start, end) })
  return {
    text,
    pointer,
    get at() {
      return at()
    },
    placeOf: (part) => partOf(source, at(), part),
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
    return writtenText(source, line, '', { start, end: start + line.trimEnd().length })
  })
}
