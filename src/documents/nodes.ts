import type { Place } from './diagnostic.ts'
import type { Spans } from './document.ts'
import { pointerTo } from './pointer.ts'
import type { Node } from './yaml.ts'

export interface NodeUse {
  readonly node: Node
  readonly place: Place
}

/** Every value of a text, in order. What an alias names is seen where it is written, not where it is named again. */
export function everyNode({ source, root }: Spans): NodeUse[] {
  const found: NodeUse[] = []
  const visit = (node: Node, pointer: string): void => {
    found.push({ node, place: { path: source.path, pointer, range: source.span(node.start, node.end) } })
    if (node.alias) return
    for (const member of node.members?.values() ?? []) visit(member.node, pointerTo(pointer, member.key))
    for (const [index, item] of (node.items ?? []).entries()) visit(item, pointerTo(pointer, index))
  }
  visit(root, '')
  return found
}
