/** Whether records of acts are the chain that was written. Source: docs/design/audit.md#verify */
import type { JsonObject } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { ActRecord } from '../people/act.ts'
import { CHAIN_START, hashOfLink, saltedDigest } from './hash-chain.ts'

/** The first record that is not as it was written. */
export interface ChainOffence {
  readonly seq: number
  readonly rule: 'archive' | 'gap' | 'content' | 'hash' | 'extends' | 'row'
  /** A sentence. */
  readonly what: string
}

/** What the hash of an act covers: all of it but the content, which is named by its digest. */
export const linkOfAct = ({ content: _content, salt: _salt, hash: _hash, ...record }: ActRecord): JsonObject =>
  toJson(record)

/** Goes through the acts of a workspace in order, from the first one on, and remembers no more than the last. */
export function createActVerifier(): { check(act: ActRecord): ChainOffence | undefined; readonly head: string } {
  let [seq, head] = [0, CHAIN_START]
  return {
    get head() {
      return head
    },
    check(act) {
      const next = seq + 1
      if (act.seq !== next)
        return { seq: next, rule: 'gap', what: `Act ${next} is missing: act ${act.seq} follows act ${seq}.` }
      const { content, salt, contentDigest } = act
      if (content !== null && (salt === null || saltedDigest(salt, content) !== contentDigest))
        return {
          seq: act.seq,
          rule: 'content',
          what: `The content of act ${act.seq} is not the one that was recorded.`,
        }
      if (hashOfLink(head, linkOfAct(act)) !== act.hash)
        return { seq: act.seq, rule: 'hash', what: `Act ${act.seq} is not the one that was recorded after act ${seq}.` }
      ;[seq, head] = [act.seq, act.hash]
      return undefined
    },
  }
}
