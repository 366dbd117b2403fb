/** The log of acts of every store: an act comes with its change or not at all, and the acts of a workspace are a chain without gaps. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { digestOf } from '../../src/base/digest.ts'
import { isFailure } from '../../src/base/failure.ts'
import { workspaceIdOf } from '../../src/base/ids.ts'
import type { NewAct } from '../../src/spec/people/act.ts'
import { CHAIN_START, hashOfLink, saltedDigest } from '../../src/spec/chain/hash-chain.ts'
import type { ChainedRow } from '../../src/spec/chain/session-link.ts'
import { createSetupVerifier } from '../../src/spec/chain/setup-row.ts'
import { SETUP_NOUNS, type SetupName } from '../../src/spec/people/setup-name.ts'
import { linkOfAct } from '../../src/spec/chain/verify-acts.ts'
import type { Store } from '../../src/store/store.ts'
import {
  AGENT,
  aKey,
  anUpdate,
  aPasskey,
  aSession,
  aStart,
  aTrigger,
  keyId,
  NOW,
  NO_LIMITS,
  runId,
  sessionId,
  TRIGGER,
  WORKSPACE,
} from './makers.ts'
import { setUpEverything } from './set-up.ts'

const ALL = { skip: 0, take: 100 }

export const anAct = (subject: string, about: Partial<NewAct> = {}): NewAct => ({
  workspaceId: WORKSPACE,
  at: NOW,
  kind: 'key.created',
  by: 'operator:ana@acme.example',
  proof: 'credential',
  keyId: keyId('ana'),
  channel: 'console',
  address: '192.0.2.7',
  subject,
  reason: 'Asked "for" it.\n',
  before: null,
  after: { name: subject, list: [1, 'zwei', null] },
  sessionId: null,
  runId: null,
  refused: null,
  counted: 1,
  setup: [],
  ...about,
})

/** As `svc audit verify` does. */
export async function verifySetup(store: Store) {
  const verifier = createSetupVerifier()
  for (const act of await store.actsInOrder(WORKSPACE, 0, 1000)) verifier.add(act)
  const offence = verifier.check(await store.setupRows(WORKSPACE, undefined, 1000))
  return { offence, checked: verifier.checked }
}

export function actContract(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  describe(`the log of acts, ${name}`, () => {
    let store: Store
    beforeEach(async () => void (store = await open({ now: () => NOW, monotonic: () => NOW })))
    afterEach(() => store.close())
    const subjects = async (): Promise<readonly string[]> =>
      (await store.acts({ workspaceId: WORKSPACE }, ALL)).items.map(({ subject }) => subject)

    test('reads an act as it was written', async () => {
      const act = anAct('a', { sessionId: sessionId('a'), runId: runId('a') })
      await store.addAct(act)
      const { items, total } = await store.acts({ workspaceId: WORKSPACE }, ALL)
      const { reason, address, before, after, setup, ...record } = act
      const { contentDigest, salt, hash, ...stored } = items[0]!
      expect([stored, total]).toEqual([
        { ...record, rowDigests: [...setup], seq: 1, content: { reason, address, before, after } },
        1,
      ])
      expect(contentDigest).toBe(saltedDigest(salt!, JSON.stringify(stored.content)))
      const [written] = await store.actsInOrder(WORKSPACE, 0, 1)
      expect(hash).toBe(hashOfLink(CHAIN_START, linkOfAct(written!)))
    })

    test('records the act of a write that was done, and none of one that failed or changed nothing', async () => {
      await store.recording(anAct('made')).createKey(aKey('a'))
      await expect(store.recording(anAct('twice')).createKey(aKey('a'))).rejects.toThrow(/unique/i)
      await expect(store.recording(anAct('of nothing')).revokeKey(keyId('none'), NOW)).rejects.toSatisfy((error) =>
        isFailure(error, 'not_found'),
      )
      const pause = { kind: 'all', name: '', isPaused: true, at: NOW, by: 'operator:ana', reason: null } as const
      expect(await store.recording(anAct('paused')).setPaused(WORKSPACE, pause)).toBe(true)
      expect(await store.recording(anAct('again')).setPaused(WORKSPACE, pause)).toBe(false)
      await expect(store.recording(anAct('labelled')).labelSession(sessionId('none'), { title: 'x' })).rejects.toThrow(
        'session',
      )
      await store.recording((answer) => anAct(JSON.stringify(answer))).deleteEndedSessions(NOW, 10)
      await store.recording(() => null).revokeKey(keyId('a'), NOW)
      await store.recording(anAct('reset')).deleteAllRuns()
      expect(await subjects()).toEqual(['reset', '{"deleted":0,"more":false}', 'paused', 'made'])
      expect((await store.keys(WORKSPACE)).map(({ id, revokedAt }) => [id, revokedAt])).toEqual([[keyId('a'), NOW]])
    })

    test('what is revoked under a record counts at once', async () => {
      await store.createKey(aKey('a'))
      const { hash } = aKey('a')
      expect((await store.keyByHash(hash))?.key.revokedAt).toBeNull()
      await store.recording(anAct('revoked')).revokeKey(keyId('a'), NOW + 1)
      expect((await store.keyByHash(hash))?.key.revokedAt).toBe(NOW + 1)
    })

    test('records the acts of a session with its update, and none of one that is refused', async () => {
      await store.start({ ...aStart('a'), acts: [anAct('started')] }, NO_LIMITS)
      const session = { ...aSession('a'), version: 1, lastSeq: 2 }
      await store.save({ ...anUpdate(session), acts: [anAct('cancelled'), anAct('twice')] })
      await expect(store.save({ ...anUpdate(session), acts: [anAct('late')] })).rejects.toSatisfy((error) =>
        isFailure(error, 'run_moved_on'),
      )
      expect(await subjects()).toEqual(['twice', 'cancelled', 'started'])
    })

    test('concurrent acts get numbers without gaps, and each names the one before', async () => {
      const other = workspaceIdOf('other')
      await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          at % 4 === 3
            ? store.addAct(anAct(`${at}`, { workspaceId: other }))
            : store.recording(anAct(`${at}`)).createKey(aKey(`k${at}`)),
        ),
      )
      for (const [workspaceId, count] of [
        [WORKSPACE, 15],
        [other, 5],
      ] as const) {
        const acts = await store.actsInOrder(workspaceId, 0, 100)
        expect(acts.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, at) => at + 1))
        let before = CHAIN_START
        for (const act of acts) expect(act.hash).toBe((before = hashOfLink(before, linkOfAct(act))))
      }
      expect((await store.actsInOrder(WORKSPACE, 13, 1)).map(({ seq }) => seq)).toEqual([14])
    })

    test('an act says what it made of the rows that it names, and later ones say it anew', async () => {
      await setUpEverything(store, anAct)
      const rows = await store.setupRows(WORKSPACE, undefined, 1000)
      expect(rows.map(({ name }) => name.split(' ')[0])).toEqual([
        'agent',
        'deployments',
        'version',
        'version',
        'document',
        'trigger',
        'key',
        'credential',
        'passkey',
        'sign-ins',
        'standing',
        'pause',
        'trust',
        'attestation',
      ])
      expect(new Set(rows.map(({ name }) => name.split(' ')[0]))).toEqual(new Set(SETUP_NOUNS))
      expect(await verifySetup(store)).toEqual({ offence: undefined, checked: rows.length })
      const [key] = rows.filter(({ name }) => name.startsWith('key '))
      expect(key!.lines.map((line) => JSON.parse(line) as unknown)).toEqual([
        [
          aKey('shop').id,
          WORKSPACE,
          AGENT,
          TRIGGER,
          'shop',
          null,
          'svc_abcd',
          digestOf(aKey('shop').hash),
          true,
          NOW,
          null,
          NOW + 2,
        ],
      ])
      expect(rows.find(({ name }) => name === 'pause tool pay.send')!.lines).toEqual([
        JSON.stringify([WORKSPACE, 'tool', 'pay.send', true, NOW, 'operator:ana']),
        JSON.stringify([WORKSPACE, 'tool', 'pay.send', false, NOW + 4, 'operator:ana']),
      ])
    })

    test('rows are read in pages of any size', async () => {
      await setUpEverything(store, anAct)
      const all = await store.setupRows(WORKSPACE, undefined, 1000)
      for (const size of [1, 2, 5]) {
        const read: ChainedRow[] = []
        for (let page = await store.setupRows(WORKSPACE, undefined, size); page.length > 0;) {
          read.push(...page)
          page = await store.setupRows(WORKSPACE, page.at(-1)!.name as SetupName, size)
        }
        expect(read).toEqual(all)
      }
    })

    test('what changes without an act, comes back or goes is found, and use is no change', async () => {
      await setUpEverything(store, anAct)
      const { id } = aPasskey('phone')
      await store.usePasskey(id, { signCount: 7, isBackedUp: true, at: NOW + 9 })
      await store.touchOperatorKey(keyId('ana'), NOW + 9)
      expect((await verifySetup(store)).offence).toBeUndefined()
      await store.recording(anAct('deleted', { setup: [`trigger ${TRIGGER}`] })).deleteTrigger(TRIGGER)
      expect((await verifySetup(store)).offence).toBeUndefined()
      await store.createTrigger(aTrigger())
      expect((await verifySetup(store)).offence?.what).toMatch(
        /^The row "trigger .*", which act \d+ removed, is there again\.$/,
      )
      await store.deleteTrigger(TRIGGER)
      await store.createKey(aKey('other'))
      expect((await verifySetup(store)).offence?.what).toBe(`No act made the row "key ${keyId('other')}".`)
      await store.addAct(anAct('found', { setup: [`key ${keyId('other')}`] }))
      await store.revokeOperatorKey(keyId('ana'), NOW)
      expect((await verifySetup(store)).offence?.what).toMatch(/^The row "credential .*" is not as act \d+ left it\.$/)
    })

    test('finds acts by kind, person, time, run and number', async () => {
      await store.addAct(anAct('a'))
      await store.addAct(anAct('b', { kind: 'key.revoked', at: NOW + 5, by: 'operator:eva' }))
      await store.addAct(anAct('c', { kind: 'run.undone', at: NOW + 9, runId: runId('r'), sessionId: sessionId('s') }))
      const find = async (filter: object) =>
        (await store.acts({ workspaceId: WORKSPACE, ...filter }, ALL)).items.map(({ subject }) => subject).join('')
      expect(await find({ kinds: ['key.created', 'key.revoked'] })).toBe('ba')
      expect(await find({ by: 'operator:eva' })).toBe('b')
      expect(await find({ since: NOW + 5, until: NOW + 9 })).toBe('b')
      expect(await find({ runId: runId('r') })).toBe('c')
      expect(await find({ sessionId: sessionId('s') })).toBe('c')
      expect(await find({ after: 1 })).toBe('cb')
      expect(await store.acts({ workspaceId: WORKSPACE }, { skip: 1, take: 1 })).toMatchObject({
        items: [{ subject: 'b' }],
        total: 3,
      })
    })
  })
}
