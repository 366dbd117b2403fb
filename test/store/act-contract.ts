/** The log of acts of every store: an act comes with its change or not at all, and the acts of a workspace are a chain without gaps. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import { isFailure } from '../../src/base/failure.ts'
import { workspaceIdOf } from '../../src/base/ids.ts'
import type { NewAct } from '../../src/spec/people/act.ts'
import { CHAIN_START, hashOfLink, saltedDigest } from '../../src/spec/chain/hash-chain.ts'
import { linkOfAct } from '../../src/spec/chain/verify-acts.ts'
import type { Store } from '../../src/store/store.ts'
import { aKey, anUpdate, aSession, aStart, keyId, NOW, NO_LIMITS, runId, sessionId, WORKSPACE } from './makers.ts'

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
  ...about,
})

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
      const { reason, address, before, after, ...record } = act
      const { contentDigest, salt, hash, ...stored } = items[0]!
      expect([stored, total]).toEqual([{ ...record, seq: 1, content: { reason, address, before, after } }, 1])
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
      expect(await subjects()).toEqual(['{"deleted":0,"more":false}', 'paused', 'made'])
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
