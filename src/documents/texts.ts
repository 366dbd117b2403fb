/** All that is written for a model, or sent anywhere, in a document and the files it names. */
import type { JsonValue } from '../base/json.ts'
import type { Place } from './diagnostic.ts'
import type { Document } from './document.ts'
import { createSource } from './source.ts'
import type { Workspace } from './workspace.ts'
import type { Node } from './yaml.ts'
import { pointerTo } from './pointer.ts'

export interface WrittenText {
  readonly text: string
  readonly at: Place
}

/** Every text of a document, keys and values, and the lines of the instructions and schemas that it names. */
export function writtenTexts(workspace: Workspace, document: Document): WrittenText[] {
  return [
    ...textsIn(document),
    ...namedFiles(workspace, document).flatMap((path) => linesOf(path, workspace.text(path))),
  ]
}

const FILES = [
  'spec.instructions.ref',
  'output.schema.ref',
  'spec.tools.*.input_schema.ref',
  'spec.agents.*.input_schema.ref',
  'spec.input_schema.ref',
  'spec.output_schema.ref',
]

function namedFiles(workspace: Workspace, document: Document): string[] {
  return FILES.flatMap((place) => document.at(place)).flatMap(({ value }) => {
    const found = typeof value === 'string' ? workspace.resolve(document, value) : undefined
    return found !== undefined && 'path' in found ? [found.path] : []
  })
}

function textsIn(document: Document): WrittenText[] {
  const texts: WrittenText[] = []
  // Places are worked out when something is wrong there.
  const add = (text: string, pointer: string, start: number, end: number): void => {
    texts.push({
      text,
      get at() {
        return { path: document.path, pointer, range: document.source.span(start, end) }
      },
    })
  }
  const visit = (node: Node, pointer: string): void => {
    // What an alias names is visited where it is written.
    if (node.alias) return
    if (isText(node.value)) add(node.value, pointer, node.start, node.end)
    for (const member of node.members?.values() ?? []) {
      const below = pointerTo(pointer, member.key)
      add(member.key, below, member.start, member.end)
      visit(member.node, below)
    }
    for (const [index, item] of (node.items ?? []).entries()) visit(item, pointerTo(pointer, index))
  }
  visit(document.root, '')
  return texts
}

const isText = (value: JsonValue): value is string => typeof value === 'string'

function linesOf(path: string, text: string): WrittenText[] {
  const source = createSource(path, text)
  let offset = 0
  return text.split('\n').map((line) => {
    const start = offset
    offset += line.length + 1
    return {
      text: line,
      get at(): Place {
        return { path, pointer: '', range: source.span(start, start + line.trimEnd().length) }
      },
    }
  })
}
