/** `trust.yaml`: whose signature counts for what. Source: docs/design/trust.md#the-trust-document */
import type { Instant } from '../../base/clock.ts'
import { digestOfJson, type Digest } from '../../base/digest.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { readShape, type ShapeReader } from './read-shape.ts'
import { readSigningKey, type SigningKey } from './signing-key.ts'

/** What a grant may let somebody do. Only what the server enforces. */
export const TRUST_VERBS = ['publish', 'deploy', 'rollback'] as const
export type TrustVerb = (typeof TRUST_VERBS)[number]

export interface TrustKey extends SigningKey {
  /** As the document calls it. */
  readonly id: string
  readonly notAfter?: Instant
  readonly revokedAt?: Instant
}

export interface TrustPerson {
  readonly id: string
  readonly keys: readonly string[]
  readonly roles: readonly string[]
}

export interface TrustGrant {
  /** Ids of keys and people, and `role:NAME`. */
  readonly who: readonly string[]
  readonly may: readonly TrustVerb[]
  /** `namespace.name`; with `*` at its end everything that begins so. */
  readonly in: string
  /** How many different people have to sign. */
  readonly count: number
  /** `widens`: fewer authority needs one signature only. */
  readonly when: 'always' | 'widens'
}

export interface TrustDocument {
  readonly name: string
  /** Rises with each change. */
  readonly version: number
  readonly expires?: Instant
  readonly roots: { readonly threshold: number; readonly keys: readonly string[] }
  readonly people: readonly TrustPerson[]
  readonly keys: readonly TrustKey[]
  readonly grants: readonly TrustGrant[]
  /** What is refused without a signature. */
  readonly require: { readonly publication: boolean; readonly deployment: boolean }
  /** Of its canonical JSON: neither comments nor the order of members count. */
  readonly digest: Digest
}

const MOST = 200
const MOST_VERSIONS = 1_000_000_000
const ID = /^[\w.@+-]+$/
const SUBJECT = /^(?:[\w-]+\.)*(?:[\w-]+\*?|\*)$/
const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z)?$/

/** @throws ShapeFault */
export function readTrustDocument(value: JsonValue): TrustDocument {
  const top = readShape(value).record(['apiVersion', 'kind', 'metadata', 'spec'])
  top.apiVersion.oneOf('svc/v1')
  top.kind.oneOf('Trust')
  const metadata = top.metadata.record(['name', 'version'], ['expires'])
  const spec = top.spec.record(['roots', 'keys', 'grants'], ['people', 'require'])
  const roots = spec.roots.record(['threshold', 'keys'])
  const asked = spec.require.optional((reader) => reader.record([], ['publication', 'deployment']))
  const expires = metadata.expires.optional(time)
  const document: TrustDocument = {
    name: id(metadata.name),
    version: metadata.version.integer(1, MOST_VERSIONS),
    ...(expires !== undefined && { expires }),
    roots: { threshold: roots.threshold.integer(1, MOST), keys: roots.keys.list(MOST).map(id) },
    people: spec.people.optional((reader) => reader.list(MOST).map(person)) ?? [],
    keys: spec.keys.list(MOST).map(key),
    grants: spec.grants.list(MOST).map(grant),
    require: {
      publication: asked?.publication.optional((reader) => reader.oneOf('signed')) !== undefined,
      deployment: asked?.deployment.optional((reader) => reader.oneOf('signed')) !== undefined,
    },
    digest: digestOfJson(value),
  }
  checkNames(document, spec.people, spec.keys)
  checkRoots(document, roots.threshold, roots.keys)
  return document
}

function person(reader: ShapeReader): TrustPerson {
  const { id: name, keys, roles } = reader.record(['id', 'keys'], ['roles'])
  return {
    id: id(name),
    keys: keys.list(MOST).map(id),
    roles: roles.optional((each) => each.list(MOST).map(id)) ?? [],
  }
}

function key(reader: ShapeReader): TrustKey {
  const { id: name, ssh, pem, not_after, revoked_at } = reader.record(['id'], ['ssh', 'pem', 'not_after', 'revoked_at'])
  const given = [ssh, pem].filter(({ value }) => value !== undefined)
  const [only] = given
  if (only === undefined || given.length > 1) throw reader.fault('must have one of ssh and pem')
  const read = readSigningKey(only.text())
  if (read === undefined || only.text().trim().startsWith('-----') !== (only === pem))
    throw only.fault(
      only === pem
        ? 'must be a public key of Ed25519 in PEM'
        : 'must be a public key: ssh-ed25519 AAAA…, or sk-ssh-ed25519@openssh.com AAAA…',
    )
  const notAfter = not_after.optional(time)
  const revokedAt = revoked_at.optional(time)
  return {
    ...read,
    id: id(name),
    ...(notAfter !== undefined && { notAfter }),
    ...(revokedAt !== undefined && { revokedAt }),
  }
}

function grant(reader: ShapeReader): TrustGrant {
  const { who, may, in: subject, count, when } = reader.record(['who', 'may', 'in'], ['count', 'when'])
  const pattern = subject.text()
  if (!SUBJECT.test(pattern)) throw subject.fault('must be namespace.name, or its beginning with * behind it')
  return {
    who: who.list(MOST).map((each) => {
      const text = each.text()
      return text.startsWith('role:') ? text : id(each)
    }),
    may: may.list(TRUST_VERBS.length).map((each) => each.oneOf(...TRUST_VERBS)),
    in: pattern,
    count: count.optional((each) => each.integer(1, MOST)) ?? 1,
    when: when.optional((each) => each.oneOf('widens')) ?? 'always',
  }
}

function id(reader: ShapeReader): string {
  const text = reader.text(200)
  if (!ID.test(text)) throw reader.fault('must have only letters, digits and . @ + - _')
  return text
}

function time(reader: ShapeReader): Instant {
  const text = reader.text()
  const instant = TIME.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(instant)) throw reader.fault('must be a date, or a time in UTC: 2027-03-01, 2027-03-01T12:00:00Z')
  return instant
}

/** Grants name keys and people alike, so no two of them have one name; and no key counts as two. */
function checkNames({ people, keys }: TrustDocument, inPeople: ShapeReader, inKeys: ShapeReader): void {
  const names = [...people, ...keys].map((each) => each.id)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined) throw inKeys.fault(`names ${twice} twice among keys and people`)
  const prints = keys.map(({ fingerprint }) => fingerprint)
  const same = keys.find(({ fingerprint }, index) => prints.indexOf(fingerprint) < index)
  if (same) throw inKeys.fault(`has the key of ${same.id} twice`)
  const known = new Set(keys.map((each) => each.id))
  const owned = people.flatMap((each) => each.keys)
  const stray = owned.find((name) => !known.has(name))
  if (stray !== undefined) throw inPeople.fault(`names the key ${stray}, which is not there`)
  const shared = owned.find((name, index) => owned.indexOf(name) < index)
  if (shared !== undefined) throw inPeople.fault(`gives the key ${shared} to two people`)
}

function checkRoots({ roots, keys, people }: TrustDocument, inThreshold: ShapeReader, inKeys: ShapeReader): void {
  const stray = roots.keys.find((name) => !keys.some((each) => each.id === name))
  if (stray !== undefined) throw inKeys.fault(`names the key ${stray}, which is not there`)
  const different = new Set(roots.keys.map((name) => keyOwnerOf({ people }, name)))
  if (different.size < roots.threshold) throw inThreshold.fault(`asks for more people than the ${different.size} roots`)
}

/** Who signs with a key: a person, or the key itself where it belongs to nobody. Two keys of one person count once. */
export const keyOwnerOf = ({ people }: Pick<TrustDocument, 'people'>, keyId: string): string =>
  people.find(({ keys }) => keys.includes(keyId))?.id ?? keyId
