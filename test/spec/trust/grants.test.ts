/** Who may do what: checked against a slow evaluator that tries every set of people. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findUngranted } from '../../../src/spec/trust/grants.ts'
import { readTrustDocument, TRUST_VERBS, type TrustDocument } from '../../../src/spec/trust/trust-document.ts'
import { cases } from '../../cases.ts'
import { newKeyPair, trustValue } from './makers.ts'

const NAMES = ['a', 'b', 'c', 'd']
const KEYS = Object.fromEntries(NAMES.map((name) => [name, newKeyPair()]))
const IDS = ['acme.desk', 'acme.refunds', 'acme.refunds.small', 'other.desk']

/** `a` and `b` are keys of one person; `c` has a role; `d` belongs to nobody. */
const PEOPLE = [
  { id: 'ana', keys: ['a', 'b'], roles: ['lead'] },
  { id: 'cleo', keys: ['c'], roles: ['lead', 'audit'] },
]
const WHO = [...NAMES, 'ana', 'cleo', 'role:lead', 'role:audit', 'role:none', 'nobody']

/** Spelled out: the people behind each word, then each grant for each set of people who signed. */
function mayDo(trust: TrustDocument, signers: readonly string[], verb: string, id: string, widens: boolean): boolean {
  const people: Readonly<Record<string, string>> = { a: 'ana', b: 'ana', c: 'cleo', d: 'd' }
  const meant: Readonly<Record<string, readonly string[]>> = {
    a: ['a'],
    b: ['b'],
    c: ['c'],
    d: ['d'],
    ana: ['a', 'b'],
    cleo: ['c'],
    'role:lead': ['a', 'b', 'c'],
    'role:audit': ['c'],
  }
  for (const grant of trust.grants) {
    const verbs = grant.may.flatMap((each) => (each === 'deploy' ? ['deploy', 'rollback'] : [each]))
    if (!verbs.includes(verb)) continue
    const start = grant.in.endsWith('*') ? grant.in.slice(0, grant.in.length - 1) : null
    if (start === null ? grant.in !== id : id.slice(0, start.length) !== start) continue
    const named: string[] = []
    for (const word of grant.who) for (const key of meant[word] ?? []) named.push(key)
    const counted: string[] = []
    for (const key of signers) {
      const person = people[key]!
      if (named.includes(key) && !counted.includes(person)) counted.push(person)
    }
    let needed = grant.count
    if (grant.when === 'widens') needed = widens ? grant.count : 1
    if (counted.length >= needed) return true
  }
  return false
}

test('grants let exactly those do it whom the slow evaluator finds', () => {
  const grant = fc.record(
    {
      who: fc.uniqueArray(fc.constantFrom(...WHO), { minLength: 1, maxLength: 4 }),
      may: fc.uniqueArray(fc.constantFrom(...TRUST_VERBS), { minLength: 1 }),
      in: fc.constantFrom('*', 'acme.*', 'acme.refunds', 'acme.refund*', 'other.*'),
      count: fc.integer({ min: 1, max: 3 }),
      when: fc.constant('widens'),
    },
    { requiredKeys: ['who', 'may', 'in'] },
  )
  const counts = { allowed: 0, refused: 0 }
  fc.assert(
    fc.property(
      fc.array(grant, { maxLength: 4 }),
      fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 }),
      fc.boolean(),
      (grants, signers, widens) => {
        const trust = readTrustDocument(trustValue(KEYS, { grants, people: PEOPLE }))
        const keys = signers.map((id) => ({ id }))
        for (const verb of TRUST_VERBS)
          for (const id of IDS) {
            const expected = mayDo(trust, signers, verb, id, widens)
            expect(findUngranted(trust, keys, { verb, id, widens }) === undefined).toBe(expected)
            counts[expected ? 'allowed' : 'refused']++
          }
      },
    ),
    { numRuns: cases(1000) },
  )
  // Both were tried often.
  expect(Math.min(counts.allowed, counts.refused)).toBeGreaterThan(200)
})

test('a refusal says how many signed, and how many it takes', () => {
  const grants = [{ who: ['ana', 'cleo'], may: ['deploy'], in: 'acme.*', count: 2, when: 'widens' }]
  const trust = readTrustDocument(trustValue(KEYS, { grants, people: PEOPLE }))
  const why = (verb: 'publish' | 'deploy', id: string, ...signers: readonly string[]) =>
    findUngranted(
      trust,
      signers.map((each) => ({ id: each })),
      { verb, id, widens: true },
    )
  expect([
    why('deploy', 'acme.desk', 'a', 'b'),
    why('deploy', 'acme.desk', 'a', 'c'),
    why('deploy', 'other.desk', 'a', 'c'),
    why('publish', 'acme.desk', 'd'),
  ]).toEqual([
    'to deploy acme.desk takes the signatures of 2 people, and 1 signed (ana)',
    undefined,
    'nothing lets ana, cleo deploy other.desk',
    'nothing lets d publish acme.desk',
  ])
})
