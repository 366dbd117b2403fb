/** The checks of what is signed, in the order in which they are made. Source: docs/design/trust.md#order-of-checks */
import { toIsoText, type Instant } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import type { Digest } from '../../base/digest.ts'
import { byName, digestOfClosure } from '../snapshot.ts'
import { MAX_ENVELOPES, preAuthEncoding, readEnvelope, type DsseEnvelope } from './dsse.ts'
import { findUngranted } from './grants.ts'
import { isSignature } from './signing-key.ts'
import { readStatement, type PublicationStatement, type StatedMember, type StatementKind } from './statement.ts'
import type { TrustDocument, TrustKey, TrustVerb } from './trust-document.ts'
import { TrustProblem } from './trust-problem.ts'

type Statements = { readonly [K in StatementKind]: ReturnType<typeof readStatement<K>> }

export interface SignedStatement<K extends StatementKind> {
  readonly statement: Statements[K]
  /** Everyone who signed it, each of them good. */
  readonly signers: readonly TrustKey[]
}

/**
 * Opens an envelope: nothing in it is read before all its signatures are good.
 * @param at when it was signed, as far as somebody other than the signer knows
 * @throws TrustProblem `envelope`, `key`, `signature`, `statement`
 */
export function openSigned<K extends StatementKind>(
  text: string,
  kind: K,
  trust: Pick<TrustDocument, 'keys'>,
  at: Instant,
): SignedStatement<K> {
  const envelope = readEnvelope(text)
  const signers = signersOf(envelope, trust, at)
  return { statement: readStatement(envelope.payload, kind), signers }
}

/** @throws TrustProblem `key`, `signature` */
export function signersOf(
  { payload, signatures }: DsseEnvelope,
  { keys }: Pick<TrustDocument, 'keys'>,
  at: Instant,
): readonly TrustKey[] {
  const found = signatures.map(({ keyId, signature }) => {
    const key = keys.find(({ fingerprint }) => fingerprint === keyId)
    if (key === undefined) throw new TrustProblem('key', `nobody knows the key ${shortenText(keyId, 60)}`)
    const why = findLapse(key, at)
    if (why !== undefined) throw new TrustProblem('key', `the key ${key.id} ${why}`)
    return { key, signature }
  })
  const signed = preAuthEncoding(payload)
  for (const { key, signature } of found)
    if (!isSignature(signature, signed, key))
      throw new TrustProblem('signature', `the signature of ${key.id} is not one over this content`)
  return found.map(({ key }) => key)
}

/** Why a key does not count at a time. */
export function findLapse({ notAfter, revokedAt }: TrustKey, at: Instant): string | undefined {
  if (revokedAt !== undefined && at >= revokedAt) return `was revoked at ${toIsoText(revokedAt)}`
  if (notAfter !== undefined && at >= notAfter) return `was good until ${toIsoText(notAfter)}`
  return undefined
}

/** @throws TrustProblem `key` for a document whose time is over */
export function refuseExpired({ name, version, expires }: TrustDocument, at: Instant): void {
  if (expires !== undefined && at >= expires)
    throw new TrustProblem('key', `the trust document ${name}@${version} expired at ${toIsoText(expires)}`)
}

/** @throws TrustProblem `grant`, unless the signers may do it to all of these */
export function refuseUngranted(
  trust: TrustDocument,
  signers: readonly TrustKey[],
  verb: TrustVerb,
  ids: readonly string[],
  widens: boolean,
): void {
  for (const id of ids) {
    const why = findUngranted(trust, signers, { verb, id, widens })
    if (why !== undefined) throw new TrustProblem('grant', why)
  }
}

/** What is published, or what lies in an archive. */
export interface PublicationContent {
  readonly closure?: Digest
  readonly members?: readonly Omit<StatedMember, 'isKnown'>[]
  readonly manifest?: Digest
}

export interface SignedPublication {
  readonly statements: readonly PublicationStatement[]
  readonly signers: readonly TrustKey[]
}

/** An envelope, and since when somebody other than the signer knows it. */
export interface KnownEnvelope {
  readonly envelope: string
  readonly at: Instant
}

/** Who signed any of the envelopes has signed the publication. @throws TrustProblem up to `statement` */
export function openPublication(envelopes: readonly KnownEnvelope[], trust: TrustDocument): SignedPublication {
  if (envelopes.length > MAX_ENVELOPES)
    throw new TrustProblem('envelope', `it has more than ${MAX_ENVELOPES} envelopes`)
  if (envelopes.length === 0) throw new TrustProblem('envelope', 'nobody signed it')
  const opened = envelopes.map(({ envelope, at }) => {
    refuseExpired(trust, at)
    return openSigned(envelope, 'publication', trust, at)
  })
  for (const { statement } of opened) refuseInconsistent(statement)
  const statements = opened.map(({ statement }) => statement)
  const signers = [...new Map(opened.flatMap((each) => each.signers).map((key) => [key.id, key])).values()]
  return { statements, signers }
}

/** The digest of a closure follows from its members, so a statement cannot name another one. */
function refuseInconsistent({ name, closure, members }: PublicationStatement): void {
  const root = members.find((each) => each.kind === 'Agent' && `${each.id}@${each.version}` === name)
  const agents = members.filter(({ kind }) => kind === 'Agent')
  const documents = members.flatMap(({ kind, ...rest }) => (kind === 'Agent' ? [] : [{ kind, ...rest }])).sort(byName)
  if (digestOfClosure(root?.id, agents, documents) !== closure)
    throw new TrustProblem('statement', 'its closure is not that of the members that it lists')
  if (members.every(({ isKnown }) => isKnown)) throw new TrustProblem('statement', 'it lists no member of its own')
}

/** @throws TrustProblem `digest`, unless each statement is about this */
export function refuseOtherContent(statements: readonly PublicationStatement[], content: PublicationContent): void {
  for (const { closure, manifest, members } of statements) {
    if (content.manifest !== undefined && manifest !== content.manifest)
      throw new TrustProblem('digest', 'the files are not those that were signed')
    if (content.closure !== undefined && closure !== content.closure)
      throw new TrustProblem('digest', 'another closure was signed')
    const [given, stated] = [content.members?.map(lineOf), members.map(lineOf)]
    const other = given?.find((line) => !stated.includes(line))
    if (other !== undefined) throw new TrustProblem('digest', `${other} was not signed`)
    if (given !== undefined && given.length !== stated.length)
      throw new TrustProblem('digest', 'a member that was signed is missing')
  }
}

const lineOf = ({ kind, id, version, digest }: Omit<StatedMember, 'isKnown'>): string =>
  `${kind} ${id}@${version} ${digest}`
