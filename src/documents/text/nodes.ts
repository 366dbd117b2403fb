import type { FindingPlace } from './diagnostic.ts'
import type { DocumentSpans } from './document.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import type { YamlNode } from './node.ts'

export interface NodeUse {
  readonly node: YamlNode
  readonly pointer: string
}

/** Every value in order; the target of an alias is visited once, at its anchor. */
export function everyNode({ root }: DocumentSpans): readonly NodeUse[] {
  const found: NodeUse[] = []
  const visit = (node: YamlNode, pointer: string): void => {
    found.push({ node, pointer })
    if (node.alias) return
    if (node.members !== undefined)
      for (const member of node.members) visit(member.node, pointerTo(pointer, member.key))
    if (node.items !== undefined)
      for (const [index, item] of node.items.entries()) visit(item, pointerTo(pointer, index))
  }
  visit(root, '')
  return found
}

export const placeOfNode = ({ source }: DocumentSpans, { node, pointer }: NodeUse): FindingPlace => ({
  path: source.path,
  pointer,
  range: source.span(node.start, node.end),
})
