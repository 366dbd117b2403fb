/** The file of `svc audit export`: a tar with the same bytes for the same acts. Source: docs/design/audit.md#the-export */
import { unpackTar } from 'modern-tar'
import { canonicalJson, isJsonObject } from '../../../base/json/json.ts'
import { fromJson } from '../../../base/json/typed-json.ts'
import { packFiles } from '../../../compile/package/archive.ts'
import type { ActRecord } from '../../../spec/act.ts'
import { createActVerifier, type ChainOffence } from '../../../spec/verify-acts.ts'

const ACTS_FILE = 'acts.jsonl'

const README = `Acts of a workspace of svc, in the order in which they were recorded: a line of JSON each, in acts.jsonl.

hash is the SHA-256, in hexadecimal, of the hash of the line before (64 zeros for the first), a line feed, and the line's
record in canonical JSON (RFC 8785) without content, salt and hash. contentDigest is the SHA-256 of the salt, a line feed and
the text of content; content and salt are null where they were left out or erased.

svc audit verify FILE checks all of this, and needs no server. examples/audit/verify.mjs in the source of svc is a second
program that does.

What this proves: the records are those of one chain, whole from the first to the last. What it does not: that nobody wrote
the whole chain anew, or cut off its end. Keep an export where the operators cannot write, and check the next one against it:
svc audit verify NEW --extends OLD
`

export const packActs = (acts: readonly ActRecord[]): Promise<Uint8Array> =>
  packFiles([
    ['README.md', Buffer.from(README)],
    [ACTS_FILE, Buffer.from(acts.map((act) => `${canonicalJson(act)}\n`).join(''))],
  ])

/** What became of a check. `hashes` are those of the acts that are good, in order. */
export interface VerifiedActs {
  readonly hashes: readonly string[]
  readonly offence: ChainOffence | null
}

/** Never throws: what cannot be read is an offence, too. */
export async function verifyArchive(bytes: Uint8Array): Promise<VerifiedActs> {
  const hashes: string[] = []
  const broken = (what: string): VerifiedActs => ({
    hashes,
    offence: { seq: hashes.length + 1, rule: 'archive', what },
  })
  const entries = await unpackTar(bytes, { strict: true }).catch(() => undefined)
  if (!entries) return broken('It is no tar, or it is damaged.')
  const [file, ...more] = entries.filter(({ header }) => header.name === ACTS_FILE)
  if (!file?.data || more.length > 0) return broken(`It does not have one ${ACTS_FILE}.`)
  const text = Buffer.from(file.data).toString()
  if (text !== '' && !text.endsWith('\n')) return broken(`The last line of ${ACTS_FILE} is cut off.`)
  const verifier = createActVerifier()
  for (const line of text.split('\n').slice(0, -1)) {
    const act = parseAct(line)
    if (!act) return broken(`Line ${hashes.length + 1} of ${ACTS_FILE} is no record of an act.`)
    const offence = verifier.check(act)
    if (offence) return { hashes, offence }
    hashes.push(act.hash)
  }
  return { hashes, offence: null }
}

const TEXTS = ['contentDigest', 'hash'] as const

function parseAct(line: string): ActRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (!isJsonObject(value) || typeof value['seq'] !== 'number') return undefined
  const isText = (name: string): boolean => typeof value[name] === 'string'
  const isTextOrNull = (name: string): boolean => isText(name) || value[name] === null
  if (!TEXTS.every(isText) || !isTextOrNull('content') || !isTextOrNull('salt')) return undefined
  // Written in any other way, two readers could see two records in it.
  return canonicalJson(value) === line ? fromJson<ActRecord>(value) : undefined
}
