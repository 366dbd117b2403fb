/** What is signed: in-toto statements (in-toto.io/Statement/v1), one type for each use. Source: docs/design/trust.md#statements */
import { toIsoText, type Instant } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import { canonicalJson, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { parseBounded } from './dsse.ts'
import { readShape, ShapeFault, type ShapeReader } from './read-shape.ts'
import { readTrustDocument, type TrustDocument } from './trust-document.ts'
import { TrustProblem } from './trust-problem.ts'

/** A statement of one type is none of another: its type is under the signature. */
const PREDICATE_TYPES = {
  publication: 'svc:publication/v1',
  deployment: 'svc:deployment/v1',
  trust: 'svc:trust/v1',
} as const
export type StatementKind = keyof typeof PREDICATE_TYPES

/** A member of a closure. */
export interface StatedMember {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: Digest
  /** It was published before, by somebody else perhaps; what publishes it needs no grant for it. */
  readonly isKnown: boolean
}

export interface PublicationStatement {
  /** `namespace.name@version` of the root. */
  readonly name: string
  readonly closure: Digest
  /** Of the archive, in which the same files were; null for a publication whose files no archive can hold. */
  readonly manifest: Digest | null
  readonly members: readonly StatedMember[]
  /** It may do more than what was published before, or nothing was. */
  readonly widens: boolean
  /** Version of svc that compiled it. */
  readonly compiler: string
  /** Of the repository; null outside of one. */
  readonly source: { readonly commit: string; readonly dirty: boolean; readonly remote: string | null } | null
  /** RFC 3339, as the signer's clock had it: it proves nothing. */
  readonly signedAt: string
}

export interface DeploymentStatement {
  readonly agent: string
  readonly version: string
  /** Of the snapshot, which is what runs. */
  readonly snapshot: Digest
  readonly action: 'deploy' | 'rollback'
  /** Version that it replaces; null for the first deployment. */
  readonly from: string | null
  /** From 1, one more than that of the deployment before. */
  readonly revision: number
  readonly widens: boolean
  readonly reason: string | null
  /** No run starts on it from then on; null for no end. */
  readonly expires: Instant | null
  readonly signedAt: string
}

interface StatementByKind {
  readonly publication: PublicationStatement
  readonly deployment: DeploymentStatement
  readonly trust: TrustDocument
}

const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'
/** The name under which an archive lists its files. */
const MANIFEST_NAME = 'svc.manifest.json'
const MOST_MEMBERS = 4000
const MOST_REVISIONS = Number.MAX_SAFE_INTEGER
const DIGEST = /^sha256:[0-9a-f]{64}$/
const HEX = /^[0-9a-f]{64}$/

interface StatementSubject {
  readonly name: string
  readonly digest: Digest
}

const writeStatement = (kind: StatementKind, subjects: readonly StatementSubject[], predicate: JsonValue): Buffer =>
  Buffer.from(
    canonicalJson({
      _type: STATEMENT_TYPE,
      subject: subjects.map(({ name, digest }) => ({ name, digest: { sha256: digest.slice('sha256:'.length) } })),
      predicateType: PREDICATE_TYPES[kind],
      predicate,
    }),
  )

export function writePublication({ name, closure, manifest, ...predicate }: PublicationStatement): Buffer {
  const files = manifest === null ? [] : [{ name: MANIFEST_NAME, digest: manifest }]
  return writeStatement('publication', [{ name, digest: closure }, ...files], toJson(predicate))
}

export function writeDeployment({ snapshot, expires, ...predicate }: DeploymentStatement): Buffer {
  const subject = { name: `${predicate.agent}@${predicate.version}`, digest: snapshot }
  const end = expires === null ? {} : { expires: toIsoText(expires) }
  return writeStatement('deployment', [subject], toJson({ ...predicate, ...end }))
}

/** @param value of the document, which `readTrustDocument` has read */
export const writeTrust = (value: JsonObject, { name, version, digest }: TrustDocument): Buffer =>
  writeStatement('trust', [{ name: `${name}@${version}`, digest }], value)

/** @throws TrustProblem `statement` for one of another type, or of another shape than its type has */
export function readStatement<K extends StatementKind>(payload: Buffer, kind: K): StatementByKind[K] {
  try {
    const top = readShape(parseBounded(payload.toString('utf8')))
    const { _type, subject, predicateType, predicate } = top.record(['_type', 'subject', 'predicateType', 'predicate'])
    _type.oneOf(STATEMENT_TYPE)
    predicateType.oneOf(PREDICATE_TYPES[kind])
    const subjects = subject.list(2).map(readSubject)
    return READERS[kind](predicate, subjects, subject)
  } catch (error) {
    if (error instanceof ShapeFault)
      throw new TrustProblem('statement', `its ${kind} statement is not one: ${error.pointer} ${error.message}`)
    throw error
  }
}

type StatementReader<K extends StatementKind> = (
  predicate: ShapeReader,
  subjects: readonly StatementSubject[],
  inSubject: ShapeReader,
) => StatementByKind[K]

const READERS: { readonly [K in StatementKind]: StatementReader<K> } = {
  publication(predicate, [root, files], inSubject) {
    if (root === undefined) throw inSubject.fault('must name what was published')
    if (files !== undefined && files.name !== MANIFEST_NAME)
      throw inSubject.fault(`must have ${MANIFEST_NAME} second, if anything`)
    const read = predicate.record(['members', 'widens', 'compiler', 'source', 'signedAt'])
    return {
      name: root.name,
      closure: root.digest,
      manifest: files?.digest ?? null,
      members: read.members.list(MOST_MEMBERS).map(readMember),
      widens: read.widens.boolean(),
      compiler: read.compiler.text(),
      source: read.source.orNull(readSource),
      signedAt: read.signedAt.text(),
    }
  },
  deployment(predicate, [subject, more], inSubject) {
    const names = ['agent', 'version', 'action', 'from', 'revision', 'widens', 'reason', 'signedAt'] as const
    const read = predicate.record(names, ['expires'])
    const [agent, version] = [read.agent.text(), read.version.text()]
    if (subject?.name !== `${agent}@${version}` || more !== undefined)
      throw inSubject.fault('must name what is deployed')
    return {
      agent,
      version,
      snapshot: subject.digest,
      action: read.action.oneOf('deploy', 'rollback'),
      from: read.from.orNull((each) => each.text()),
      revision: read.revision.integer(1, MOST_REVISIONS),
      widens: read.widens.boolean(),
      reason: read.reason.orNull((each) => each.text(4000)),
      expires: read.expires.optional(readTime) ?? null,
      signedAt: read.signedAt.text(),
    }
  },
  trust(predicate, [subject, more], inSubject) {
    if (predicate.value === undefined) throw predicate.fault('must be there')
    const document = readTrustDocument(predicate.value)
    const name = `${document.name}@${document.version}`
    if (subject?.name !== name || subject.digest !== document.digest || more !== undefined)
      throw inSubject.fault('must name this document')
    return document
  },
}

/** As `toIsoText` writes it, so that there is one spelling. */
function readTime(reader: ShapeReader): Instant {
  const text = reader.text()
  const at = Date.parse(text)
  if (Number.isNaN(at) || toIsoText(at) !== text) throw reader.fault('must be a time, like 2027-03-01T00:00:00.000Z')
  return at
}

function readSubject(reader: ShapeReader): StatementSubject {
  const { name, digest } = reader.record(['name', 'digest'])
  const { sha256 } = digest.record(['sha256'])
  const hex = sha256.text()
  if (!HEX.test(hex)) throw sha256.fault('must be 64 hexadecimal digits')
  return { name: name.text(), digest: `sha256:${hex}` }
}

function readMember(reader: ShapeReader): StatedMember {
  const { kind, id, version, digest, isKnown } = reader.record(['kind', 'id', 'version', 'digest', 'isKnown'])
  const text = digest.text()
  if (!DIGEST.test(text)) throw digest.fault('must be a digest')
  return {
    kind: kind.oneOf('Agent', 'Tool', 'Policy'),
    id: id.text(),
    version: version.text(),
    digest: text as Digest,
    isKnown: isKnown.boolean(),
  }
}

function readSource(reader: ShapeReader): PublicationStatement['source'] {
  const { commit, dirty, remote } = reader.record(['commit', 'dirty', 'remote'])
  return { commit: commit.text(), dirty: dirty.boolean(), remote: remote.orNull((each) => each.text()) }
}
