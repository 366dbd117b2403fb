/** The comparisons of a Policy document, with their places: compiled conditions are sorted, their texts are the same. */
import { describeLeaf } from '../../../policy/condition/describe.ts'
import type { Document } from '../../text/document.ts'
import { formatPointer } from '../../text/pointer.ts'
import { leavesIn } from './conditions.ts'

export interface WrittenComparison {
  /** As explanations give it: `args.amount > 100`. */
  readonly text: string
  /** Path for people: `conditions.any[1]`. */
  readonly node: string
  readonly pointer: string
}

/** In the order in which they are written; without those on one line, and those that cannot be read. */
export const comparisonsIn = (policy: Document): readonly WrittenComparison[] =>
  leavesIn(policy)
    .filter(({ pointer }) => !pointer.includes('@'))
    .map(({ pointer, leaf }) => ({
      text: describeLeaf(leaf),
      node: formatPointer(pointer.slice('/spec'.length)),
      pointer,
    }))
