/**
 * A log of checkpoints: a file that only grows. A line for each head that a chain has reached, and after those of each run a checkpoint
 * of all lines before it. What was signed can no longer be written anew without being seen. Source: docs/design/audit.md#checkpoints
 */
import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { parseCheckpoint, type SignedCheckpoint } from '../../../spec/chain/checkpoint.ts'
import { createMerkleTree } from '../../../spec/chain/merkle-tree.ts'

/** A link that a chain had reached: of the acts, by its number, or of a session, by its version. */
export type LoggedHead =
  | { readonly act: number; readonly hash: string }
  | { readonly hash: string; readonly session: string; readonly version: number }

export interface AuditLog {
  /** Those before the last checkpoint, in order. What follows it was never signed, and is written anew. */
  readonly heads: readonly LoggedHead[]
  readonly checkpoints: readonly SignedCheckpoint[]
  /** Length up to the last checkpoint, in bytes. */
  readonly signedBytes: number
  /** Lines with which the next checkpoint goes on. */
  readonly leaves: readonly string[]
}

/** The members of each are in order, so that its JSON is canonical. */
export const writeHead = (head: LoggedHead): string =>
  JSON.stringify(
    'act' in head
      ? { act: head.act, hash: head.hash }
      : { hash: head.hash, session: head.session, version: head.version },
  )

export const writeCheckpoint = (note: string): string => JSON.stringify({ checkpoint: note })

/** @returns the log; or, as a text, what of it is not as it was written */
export function readAuditLog(text: string): AuditLog | string {
  const heads: LoggedHead[] = []
  const leaves: string[] = []
  const checkpoints: SignedCheckpoint[] = []
  const tree = createMerkleTree()
  let [at, number, bytes, signedBytes] = [0, 0, 0, 0]
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
    const line = text.slice(at, end)
    at = end + 1
    number++
    bytes += Buffer.byteLength(line) + 1
    const value = parseLine(line)
    const note = value?.['checkpoint']
    if (typeof note === 'string') {
      const checkpoint = parseCheckpoint(note)
      if (!checkpoint) return `line ${number} is no checkpoint`
      if (checkpoint.size !== tree.size || checkpoint.root !== tree.root())
        return `the ${tree.size} lines before line ${number} are not those that were signed there`
      if (checkpoint.origin !== (checkpoints[0] ?? checkpoint).origin) return `line ${number} is of another log`
      checkpoints.push(checkpoint)
      signedBytes = bytes
      continue
    }
    const head = value && toHead(value)
    if (!head || writeHead(head) !== line) return `line ${number} is no head of a chain`
    tree.add(line)
    leaves.push(line)
    heads.push(head)
  }
  const size = checkpoints.at(-1)?.size ?? 0
  return { heads: heads.slice(0, size), checkpoints, signedBytes, leaves: leaves.slice(0, size) }
}

/** What one checkpoint added to a log. */
export interface LogPart {
  /** Lines that are signed with it. */
  readonly size: number
  readonly text: string
}

/** The text of a log in parts that follow each other: up to its first checkpoint, and from each to the next. */
export function partsOfLog({ leaves, checkpoints }: AuditLog): readonly LogPart[] {
  let before = 0
  return checkpoints.map(({ size, note }) => {
    const text = [...leaves.slice(before, size), writeCheckpoint(note), ''].join('\n')
    before = size
    return { size, text }
  })
}

function parseLine(line: string): Readonly<Record<string, JsonValue>> | undefined {
  try {
    const value = JSON.parse(line) as JsonValue
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function toHead({ act, hash, session, version }: Readonly<Record<string, JsonValue>>): LoggedHead | undefined {
  if (typeof hash !== 'string') return undefined
  if (typeof act === 'number') return { act, hash }
  return typeof session === 'string' && typeof version === 'number' ? { hash, session, version } : undefined
}
