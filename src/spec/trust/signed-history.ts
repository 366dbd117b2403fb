/**
 * Whether what operators published, deployed and installed was signed by those who might, by the trust document of that moment. The
 * rows are those of an audit export, which their acts cover. Source: docs/design/audit.md#signatures
 */
import type { Instant } from '../../base/clock.ts'
import { digestOf } from '../../base/digest.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { groupBy } from '../../base/values/collections.ts'
import type { ChainedRow } from '../chain/session-link.ts'
import type { SetupNoun } from '../people/setup-name.ts'
import type { TrustDocument } from './trust-document.ts'
import { TrustProblem } from './trust-problem.ts'
import { openPublication, openSigned, refuseUngranted } from './verify-signed.ts'
import { openTrust } from './verify-trust.ts'

export interface SignedHistory {
  /** Publications and deployments of which the signatures are good. */
  readonly signed: number
  /** The first row that was not signed as it had to be. */
  readonly offence?: { readonly row: string; readonly what: string }
}

/**
 * What came first is said by the numbers of the acts, which no clock can change. Rows that no act names, of earlier versions of svc, are
 * not checked.
 * @param envelopes by the digests of their texts
 * @param actsOf numbers of the acts that name a row, in order
 */
export function verifySignedHistory(
  rows: readonly ChainedRow[],
  envelopes: ReadonlyMap<string, string>,
  actsOf: (row: string) => readonly number[],
): SignedHistory {
  const history: History = { rows, envelopes, actsOf, inForce: [] }
  let signed = 0
  try {
    readTrust(history)
    const publications = checkPublications(history)
    const deployments = checkDeployments(history)
    signed = publications.length + deployments.length
    refuseUnsignedMembers(history, publications)
    refuseUnsignedDeployments(history, deployments)
    return { signed }
  } catch (error) {
    if (error instanceof UnsignedRow) return { signed, offence: { row: error.row, what: error.message } }
    throw error
  }
}

interface History {
  readonly rows: readonly ChainedRow[]
  readonly envelopes: ReadonlyMap<string, string>
  readonly actsOf: (row: string) => readonly number[]
  /** In the order in which they were installed, each since an act. */
  readonly inForce: { readonly since: number; readonly trust: TrustDocument }[]
}

class UnsignedRow extends Error {
  readonly row: string
  constructor(row: string, { step, message }: TrustProblem) {
    super(`${step}: ${message}`)
    this.row = row
  }
}

/** Names the row about which a problem is. */
function about<T>(row: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof TrustProblem ? new UnsignedRow(row, error) : error
  }
}

/** The document by which an act was judged. */
const trustBefore = ({ inForce }: History, act: number): TrustDocument | undefined =>
  inForce.findLast(({ since }) => since < act)?.trust

function textOf({ envelopes }: History, digest: string): string {
  const text = envelopes.get(digest)
  if (text === undefined || digestOf(text) !== digest)
    throw new TrustProblem('envelope', 'its envelope is not in the file')
  return text
}

type PlainValue = string | number | boolean | null

const isPlain = (value: JsonValue): value is PlainValue => value === null || typeof value !== 'object'

/** Lines of the rows of a noun, a value for each column of `src/store/nouns/setup-rows.ts`. */
const linesOf = (
  { rows }: History,
  noun: SetupNoun,
): readonly { readonly row: string; readonly values: readonly PlainValue[] }[] =>
  rows
    .filter(({ name }) => name.startsWith(`${noun} `))
    .flatMap(({ name: row, lines }) => lines.map((line) => ({ row, values: valuesIn(row, line) })))

function valuesIn(row: string, line: string): readonly PlainValue[] {
  try {
    const values = JSON.parse(line) as JsonValue
    if (Array.isArray(values) && values.every(isPlain)) return values
  } catch {
    // Said below.
  }
  throw new UnsignedRow(row, new TrustProblem('archive', 'it is no row of this table'))
}

function readTrust(history: History): void {
  const installed = linesOf(history, 'trust').map(({ row, values: [, version, , envelope, at] }) => ({
    row,
    version: Number(version),
    envelope: String(envelope),
    at: Number(at),
    since: history.actsOf(row)[0] ?? 0,
  }))
  for (const { row, version, envelope, at, since } of installed.sort((one, other) => one.version - other.version))
    about(row, () => {
      const trust = openTrust(textOf(history, envelope), history.inForce.at(-1)?.trust, at)
      if (trust.version !== version) throw new TrustProblem('digest', `version ${trust.version} was signed`)
      history.inForce.push({ since, trust })
    })
}

interface KeptStatement {
  readonly row: string
  readonly subject: string
  readonly agent: string
  readonly revision: number
  readonly envelope: string
  readonly at: Instant
  readonly act: number
}

/** In the order in which the server took them. */
const keptStatements = (history: History, wanted: 'publication' | 'deployment'): readonly KeptStatement[] =>
  linesOf(history, 'attestation')
    .flatMap(({ row, values: [, , kind, subject, agent, revision, envelope, , at] }) => {
      const [act] = history.actsOf(row)
      if (kind !== wanted || act === undefined) return []
      const texts = { subject: String(subject), agent: String(agent), envelope: String(envelope) }
      return [{ row, ...texts, revision: Number(revision), at: Number(at), act }]
    })
    .sort((one, other) => one.act - other.act)

interface CheckedPublication {
  readonly act: number
  /** Digests of the members. */
  readonly members: ReadonlySet<string>
}

/** Envelopes of one publication count together. Without a trust document nobody said whose signature counts. */
function checkPublications(history: History): readonly CheckedPublication[] {
  const publishedBy = new Map(publishedMembers(history).map(({ digest, act = 0 }) => [digest, act]))
  const together = groupBy(keptStatements(history, 'publication'), ({ act }) => act)
  return [...together].flatMap(([act, kept]) => {
    const trust = trustBefore(history, act)
    const [first] = kept
    if (!trust || !first) return []
    const { row, subject, at } = first
    return about(row, () => {
      const texts = kept.map(({ envelope }) => ({ envelope: textOf(history, envelope), at }))
      const { statements, signers } = openPublication(texts, trust)
      const widens = statements.some((each) => each.widens)
      for (const { closure, members } of statements) {
        if (closure !== subject) throw new TrustProblem('digest', 'another closure was signed')
        const own = members.filter(({ digest }) => (publishedBy.get(digest) ?? act) >= act)
        refuseUngranted(
          trust,
          signers,
          'publish',
          own.map(({ id }) => id),
          widens,
        )
      }
      return [{ act, members: new Set(statements.flatMap(({ members }) => members.map(({ digest }) => digest))) }]
    })
  })
}

interface SignedEnd {
  readonly subject: string
  readonly act: number
  readonly expires: Instant | null
}

/** Each is signed by who might, and the revisions of an agent rise by one. */
function checkDeployments(history: History): readonly SignedEnd[] {
  const revisions = uncoveredRevisions(history)
  return keptStatements(history, 'deployment').map(({ row, subject, agent, revision, envelope, at, act }) =>
    about(row, () => {
      const trust = trustBefore(history, act)
      if (!trust) throw new TrustProblem('key', 'no trust document said whose signature counts')
      const { statement, signers } = openSigned(textOf(history, envelope), 'deployment', trust, at)
      refuseUngranted(trust, signers, statement.action, [statement.agent], statement.widens)
      if (statement.snapshot !== subject || statement.agent !== agent || statement.revision !== revision)
        throw new TrustProblem('digest', 'it is stored as another one than was signed')
      const next = (revisions.get(agent) ?? 0) + 1
      if (revision !== next) throw new TrustProblem('statement', `revision ${next} of ${agent} is missing`)
      revisions.set(agent, next)
      return { subject, act, expires: statement.expires }
    }),
  )
}

/** The last revision of each agent among the statements of earlier versions of svc, which no act names. */
function uncoveredRevisions(history: History): Map<string, number> {
  const last = new Map<string, number>()
  for (const { row, values } of linesOf(history, 'attestation')) {
    const [, , kind, , agent, revision] = values
    if (kind !== 'deployment' || history.actsOf(row).length > 0) continue
    last.set(String(agent), Math.max(last.get(String(agent)) ?? 0, Number(revision)))
  }
  return last
}

const publishedMembers = (history: History) =>
  [
    ...linesOf(history, 'version').map(({ row, values: [, , digest] }) => ({ row, digest })),
    ...linesOf(history, 'document').map(({ row, values: [digest] }) => ({ row, digest })),
  ].map((member) => ({ ...member, act: history.actsOf(member.row)[0] }))

function refuseUnsignedMembers(history: History, publications: readonly CheckedPublication[]): void {
  for (const { row, digest, act } of publishedMembers(history)) {
    if (act === undefined || trustBefore(history, act)?.require.publication !== true) continue
    const isSigned = publications.some((each) => each.act <= act && each.members.has(String(digest)))
    if (!isSigned) about(row, () => refuse('nobody signed its publication'))
  }
}

function refuseUnsignedDeployments(history: History, deployments: readonly SignedEnd[]): void {
  const digests = new Map(linesOf(history, 'version').map(({ row, values: [, , digest] }) => [row, digest]))
  const unused = [...deployments]
  for (const { row, values, act } of deploymentsIn(history)) {
    const [version, , , , , end = null] = values
    const digest = digests.get(`version ${version}`)
    const found = unused.findIndex((each) => each.subject === digest && each.act === act && each.expires === end)
    // Each statement is of one deployment, also of one that did not have to be signed.
    if (found >= 0) unused.splice(found, 1)
    else if (trustBefore(history, act)?.require.deployment === true)
      about(row, () => refuse(`nobody signed the deployment of version ${version}`))
  }
}

/** Each deployment with its act; those before the first act that names them are left out. */
const deploymentsIn = (history: History) =>
  [...groupBy(linesOf(history, 'deployments'), ({ row }) => row)].flatMap(([row, lines]) => {
    const acts = history.actsOf(row)
    return lines.flatMap((line, at) => {
      const act = acts[acts.length - lines.length + at]
      return act === undefined ? [] : [{ ...line, act }]
    })
  })

function refuse(why: string): never {
  throw new TrustProblem('envelope', why)
}
