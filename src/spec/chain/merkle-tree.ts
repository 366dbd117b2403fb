/** The tree of RFC 6962 over the lines of a log. Source: docs/design/audit.md#checkpoints */
import { createHash } from 'node:crypto'

const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)
const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

/** Grows leaf by leaf, and keeps one hash for each whole subtree: as many as the size has binary ones. */
export interface MerkleTree {
  add(leaf: string): void
  readonly size: number
  /** Base64. */
  root(): string
}

export function createMerkleTree(): MerkleTree {
  const subtrees: { readonly leaves: number; readonly hash: Buffer }[] = []
  let size = 0
  return {
    get size() {
      return size
    },
    add(leaf) {
      size++
      let last = { leaves: 1, hash: sha256(LEAF, Buffer.from(leaf)) }
      for (let left = subtrees.at(-1); left?.leaves === last.leaves; left = subtrees.at(-1)) {
        subtrees.pop()
        last = { leaves: 2 * last.leaves, hash: sha256(NODE, left.hash, last.hash) }
      }
      subtrees.push(last)
    },
    root() {
      const hashes = subtrees.map(({ hash }) => hash)
      const root = hashes.reduceRight<Buffer | undefined>(
        (right, left) => (right ? sha256(NODE, left, right) : left),
        undefined,
      )
      return (root ?? sha256()).toString('base64')
    },
  }
}
