/** Whether each version and deployment was signed by who might, by the rows and envelopes of an export alone. */
import { expect, test } from 'vitest'
import { digestOf, type Digest } from '../../../src/base/digest.ts'
import type { JsonObject, JsonValue } from '../../../src/base/json/json.ts'
import type { ActRecord } from '../../../src/spec/people/act.ts'
import { createSetupVerifier } from '../../../src/spec/chain/setup-row.ts'
import type { ChainedRow } from '../../../src/spec/chain/session-link.ts'
import { verifySignedHistory } from '../../../src/spec/trust/signed-history.ts'
import { writeDeployment, writePublication, writeTrust } from '../../../src/spec/trust/statement.ts'
import { readTrustDocument } from '../../../src/spec/trust/trust-document.ts'
import { aDeploymentOf, aPublicationOf, envelopeOf, memberOf, newKeyPair, trustValue, type KeyPair } from './makers.ts'

const [ROOT, CI, ANA, EVE] = [newKeyPair(), newKeyPair(), newKeyPair(), newKeyPair()]
const DESK = 'acme.desk'
const digestOfDesk = (version: string): Digest => digestOf(`${DESK}@${version}`)

/** What a server would have: a trust document, two versions that `ci` published, and three deployments by Ana. */
interface Told {
  readonly trust: JsonObject
  readonly installedAt: number
  readonly publisher: Pick<KeyPair, 'sign'> | null
  readonly deployer: Pick<KeyPair, 'sign'> | null
  /** Revisions of the deployments at 30, 40 and 50. */
  readonly revisions: readonly number[]
  /** When the rows of the deployments say that they end. */
  readonly storedEnd: number | null
  /** What the clock of the server says at an act. */
  readonly clock: (act: number) => number
}

const TRUST = (about: JsonObject = {}): JsonObject =>
  trustValue(
    { root: ROOT, ci: CI, ana: ANA },
    {
      roots: { threshold: 1, keys: ['root'] },
      grants: [
        { who: ['ci'], may: ['publish'], in: 'acme.*' },
        { who: ['ana'], may: ['deploy'], in: 'acme.*' },
      ],
      require: { publication: 'signed', deployment: 'signed' },
      ...about,
    },
  )

function historyOf(about: Partial<Told> = {}) {
  const told: Told = {
    trust: TRUST(),
    installedAt: 10,
    publisher: CI,
    deployer: ANA,
    revisions: [1, 2, 3],
    storedEnd: 900,
    clock: (act) => act,
    ...about,
  }
  const rows: ChainedRow[] = []
  const envelopes = new Map<string, string>()
  const acts = new Map<string, readonly number[]>()
  const at = (act: number): number => told.clock(act)
  const add = (by: readonly number[], name: string, ...lines: readonly (readonly JsonValue[])[]): void => {
    acts.set(name, by)
    rows.push({ name, lines: lines.map((line) => JSON.stringify(line)) })
  }
  const keep = (text: string): Digest => {
    envelopes.set(digestOf(text), text)
    return digestOf(text)
  }
  const document = readTrustDocument(told.trust)
  const installed = keep(envelopeOf(writeTrust(told.trust, document), ROOT))
  add([told.installedAt], 'trust 1', ['w', 1, document.digest, installed, at(told.installedAt), 'root'])
  for (const [act, version] of [
    [20, '1.0.0'],
    [25, '2.0.0'],
  ] as const) {
    const statement = aPublicationOf([memberOf(DESK, { version, digest: digestOfDesk(version) })])
    add([act], `version v${version}`, [DESK, version, digestOfDesk(version), statement.closure, 'x', at(act), 'ci'])
    if (!told.publisher) continue
    const envelope = keep(envelopeOf(writePublication(statement), told.publisher))
    const about = [envelope, 'publication', statement.closure, null, null, envelope, '[]', at(act)]
    add([act], `attestation ${envelope}`, ['w', ...about])
  }
  const deployed = [
    [30, '1.0.0', null],
    [40, '2.0.0', '1.0.0'],
    [50, '1.0.0', '2.0.0'],
  ] as const
  for (const [index, [act, version, from]] of deployed.entries()) {
    const revision = told.revisions[index]
    if (!told.deployer || revision === undefined) continue
    const snapshot = digestOfDesk(version)
    const statement = aDeploymentOf(DESK, { version, snapshot, from, revision, expires: 900 })
    const envelope = keep(envelopeOf(writeDeployment(statement), told.deployer))
    const about = [envelope, 'deployment', snapshot, DESK, revision, envelope, '[]', at(act)]
    add([act], `attestation ${envelope}`, ['w', ...about])
  }
  add(
    [30, 40, 50],
    'deployments d',
    ...deployed.map(([act, version]) => [`v${version}`, null, at(act), 'ana', null, told.storedEnd]),
  )
  return { rows, envelopes, actsOf: (row: string) => acts.get(row) ?? [] }
}

const check = (about: Partial<Told> = {}) => {
  const { rows, envelopes, actsOf } = historyOf(about)
  return verifySignedHistory(rows, envelopes, actsOf)
}
const offenceOf = (about: Partial<Told> = {}): readonly string[] => {
  const { row = '', what = 'none' } = check(about).offence ?? {}
  return [row.split(' ')[0]!, what]
}

test('what was signed by who might is good', () => {
  expect(check()).toEqual({ signed: 5 })
})

test('a clock that stands or runs backwards changes nothing', () => {
  expect(check({ clock: () => 7 })).toEqual({ signed: 5 })
  expect(check({ clock: (act) => 1000 - act })).toEqual({ signed: 5 })
})

test('before there was a trust document nobody had to sign', () => {
  expect(check({ installedAt: 99, publisher: null, deployer: null })).toEqual({ signed: 0 })
})

test.each<[string, Partial<Told>, readonly string[]]>([
  ['a version that nobody signed', { publisher: null }, ['version', 'envelope: nobody signed its publication']],
  [
    'a version that a stranger signed',
    { publisher: EVE },
    ['attestation', `key: nobody knows the key ${EVE.key.fingerprint}`],
  ],
  [
    'a version that the wrong one signed',
    { publisher: ANA },
    ['attestation', 'grant: nothing lets ana publish acme.desk'],
  ],
  [
    'deployments that nobody signed',
    { deployer: null },
    ['deployments', 'envelope: nobody signed the deployment of version v1.0.0'],
  ],
  [
    'a deployment that nobody signed',
    { revisions: [1, 2] },
    ['deployments', 'envelope: nobody signed the deployment of version v1.0.0'],
  ],
  ['deployments by who may only publish', { deployer: CI }, ['attestation', 'grant: nothing lets ci deploy acme.desk']],
  [
    'an end that nobody signed',
    { storedEnd: null },
    ['deployments', 'envelope: nobody signed the deployment of version v1.0.0'],
  ],
  [
    'a revision that is left out',
    { revisions: [1, 3, 4] },
    ['attestation', 'statement: revision 2 of acme.desk is missing'],
  ],
  [
    'a document that no root signed',
    { trust: TRUST({ roots: { threshold: 1, keys: ['ana'] } }) },
    ['trust', 'grant: '],
  ],
])('%s is named', (_, about, [row = '', what = '']) => {
  const [found, why] = offenceOf(about)
  expect([found, why!.startsWith(what)]).toEqual([row, true])
})

test('what an earlier version of svc took, whose acts name no rows, is not checked, and what comes after it is', () => {
  const { rows, envelopes, actsOf } = historyOf()
  const since = (first: number) => (row: string) => actsOf(row).filter((act) => act >= first)
  expect(verifySignedHistory(rows, envelopes, since(35))).toEqual({ signed: 2 })
  expect(verifySignedHistory(rows, envelopes, since(45))).toEqual({ signed: 1 })
  const left = rows.filter(({ name }) => !name.startsWith('attestation') || actsOf(name)[0] !== 40)
  expect(verifySignedHistory(left, envelopes, since(35)).offence?.what).toBe(
    'statement: revision 2 of acme.desk is missing',
  )
})

test('a later act of a version tells how it was published only where each act names its rows', () => {
  const actsAfter = (first: object): readonly number[] => {
    const verifier = createSetupVerifier()
    const [v, w] = ['version v', 'version w'].map((name) => [name, 'digest'])
    for (const [at, act] of [
      first,
      { kind: 'version.yanked', rowDigests: [v] },
      { kind: 'version.published', rowDigests: [w] },
      { kind: 'version.yanked', rowDigests: [v, w] },
    ].entries())
      verifier.add({ seq: at + 1, salt: 'salt', ...act } as unknown as ActRecord)
    return [...verifier.actsOf('version v'), 0, ...verifier.actsOf('version w')]
  }
  expect(actsAfter({ kind: 'key.created' })).toEqual([0, 3, 4])
  expect(actsAfter({ kind: 'key.created', rowDigests: [] })).toEqual([2, 4, 0, 3, 4])
})

test('a line that is no row is named, and nothing is thrown', () => {
  const { rows, envelopes, actsOf } = historyOf()
  for (const line of ['', '{', '{}', '7'])
    expect(verifySignedHistory([...rows, { name: 'version x', lines: [line] }], envelopes, actsOf).offence).toEqual({
      row: 'version x',
      what: 'archive: it is no row of this table',
    })
})

test('an envelope that is changed, exchanged or left out is named', () => {
  const { rows, envelopes, actsOf } = historyOf()
  for (const [digest, text] of envelopes) {
    const others = new Map(envelopes)
    others.delete(digest)
    expect(verifySignedHistory(rows, others, actsOf).offence?.what).toBe('envelope: its envelope is not in the file')
    for (const [other, content] of envelopes) {
      if (other === digest) continue
      expect(verifySignedHistory(rows, new Map(envelopes).set(digest, content), actsOf).offence).toBeDefined()
    }
    const changed = text.replace(/"payload":"(.)/, (_, first: string) => `"payload":"${first === 'A' ? 'B' : 'A'}`)
    expect(verifySignedHistory(rows, new Map(envelopes).set(digest, changed), actsOf).offence).toBeDefined()
  }
})
