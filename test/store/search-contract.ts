/** What every store finds of runs by what was said in them and done by them. Each backend runs the whole list. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as fc from 'fast-check'
import type { Clock } from '../../src/base/clock.ts'
import type { Digest } from '../../src/base/digest.ts'
import type { Session } from '../../src/spec/run/session.ts'
import { NOTHING_USED } from '../../src/spec/run/run.ts'
import type { RunStep } from '../../src/spec/step.ts'
import type { CallRow, EffectChange } from '../../src/store/session-update.ts'
import type { RunFilter } from '../../src/store/queries.ts'
import type { Store } from '../../src/store/store.ts'
import {
  AGENT,
  NOW,
  NO_LIMITS,
  WORKSPACE,
  aRun,
  aSession,
  aStart,
  aStep,
  aTask,
  anUpdate,
  runId,
  sessionId,
} from './makers.ts'
import { cases } from '../cases.ts'

type EffectClaim = Extract<EffectChange, { take: unknown }>['take']

const DAY = 24 * 3_600_000
const ALL = { skip: 0, take: 100 }

const aCall = ({ id, rootRunId }: Session, ref: string): CallRow => ({
  sessionId: id,
  runId: rootRunId,
  callId: 'c1',
  agentId: AGENT,
  ref,
  argumentsDigest: 'sha256:1' as Digest,
  arguments: {},
  state: 'executed',
  attempt: 1,
  idempotencyKey: `svc:${rootRunId}:1:0`,
  at: NOW,
})

const aClaim = ({ id, rootRunId }: Session, key: string): EffectClaim => ({
  id: 'effect',
  key,
  shown: key,
  sessionId: id,
  runId: rootRunId,
  callId: 'c1',
  tool: 'acme.refunds',
  toolVersion: '1.2.0',
  agent: 'pay.clerk',
  agentVersion: '1.0.0',
  argumentsDigest: 'sha256:1' as Digest,
  at: NOW,
  notAfter: NOW + 60_000,
  expiresAt: null,
  approvedBy: [],
  replaces: null,
})

export function searchContract(name: string, open: (clock: Clock) => Store | Promise<Store>): void {
  describe(`search, ${name}`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open({ now: () => NOW, monotonic: () => NOW })
    })
    afterEach(() => store.close())

    const start = async (...given: Parameters<typeof aStart>): Promise<Session> => {
      expect(await store.start(aStart(...given), NO_LIMITS)).toEqual({ outcome: 'started' })
      return (await store.session(sessionId(given[0])))!
    }
    const end = async (session: Session, output: string, error: string | null = null): Promise<Session> => {
      const ended = {
        ...session,
        status: error === null ? 'Completed' : 'Failed',
        finishedAt: NOW + 5,
        output,
      } as const
      await store.save(anUpdate(ended, { runs: [{ ...aRun(ended), error }], busy: false }))
      return (await store.session(session.id))!
    }
    const find = async (filter: Omit<RunFilter, 'workspaceId'>): Promise<readonly string[]> => {
      const { items, total } = await store.runs({ workspaceId: WORKSPACE, ...filter }, ALL)
      expect(total).toBe(items.length)
      return items.map(({ id }) => id)
    }

    test('finds all words of an input while the run goes on, in any case, each as the beginning of a word', async () => {
      await start('a', { input: { order: 'A-1042', note: 'Größe\n"falsch"\tgeliefert' } })
      await start('b', { input: { order: 'A-10' }, startedAt: NOW + 1 })
      const [a, b] = [runId('a'), runId('b')]
      expect(await find({ text: 'a-1042' })).toEqual([a])
      expect(await find({ text: 'A-10' })).toEqual([b, a])
      expect(await find({ text: 'größe falsch' })).toEqual([a])
      expect(await find({ text: 'falsch gelief' })).toEqual([a])
      expect(await find({ text: '1042-A' })).toEqual([])
      expect(await find({ text: 'A-1042 unsaid' })).toEqual([])
      expect(await find({ text: '"*) XOR --' })).toEqual([])
      expect(await find({ text: '  ' })).toEqual([])
    })

    test('finds the output and the error of a run once it has ended', async () => {
      const done = await start('a', { input: { order: 'A-1' } })
      const failed = await start('b', { input: { order: 'A-2' }, startedAt: NOW + 1 })
      expect(await find({ text: 'paid' })).toEqual([])
      await end(done, 'Paid.')
      await end(failed, '', 'The card was refused.')
      expect(await find({ text: 'paid' })).toEqual([runId('a')])
      expect(await find({ text: 'card refused' })).toEqual([runId('b')])
    })

    test('finds each run of a session that went on by its own input, and an output that changed by its last words', async () => {
      const first = await end(await start('s', { input: { order: 'first' } }), 'blue')
      const next = { ...first, rootRunId: runId('second'), entryRunId: first.rootRunId, input: { order: 'second' } }
      const running = { ...next, status: 'Running', finishedAt: null, output: null } as const
      await store.start(
        anUpdate(running, { runs: [aRun(running, { startedAt: NOW + 9 })], subjects: ['engine.session.resumed'] }),
        NO_LIMITS,
      )
      expect(await find({ text: 'first' })).toEqual([runId('s')])
      expect(await find({ text: 'second' })).toEqual([runId('second')])
      const ended = await end((await store.session(first.id))!, 'green')
      const again = { ...ended, status: 'Running', finishedAt: null, output: null } as const
      await store.save(anUpdate(again, { runs: [aRun(again)] }))
      expect(await find({ text: 'green' })).toEqual([])
      await end((await store.session(first.id))!, 'yellow')
      expect([await find({ text: 'green' }), await find({ text: 'yellow' }), await find({ text: 'blue' })]).toEqual([
        [],
        [runId('second')],
        [runId('s')],
      ])
    })

    test('finds nothing of what was erased or deleted', async () => {
      for (const name of ['erased', 'deleted', 'kept'])
        await end(await start(name, { input: { word: 'needle' } }), 'thread')
      await store.eraseSession(sessionId('erased'), NOW + 9)
      await store.labelSession(sessionId('kept'), { legalHold: true })
      expect((await find({ text: 'needle' })).toSorted()).toEqual([runId('deleted'), runId('kept')].toSorted())
      expect(await store.deleteEndedSessions(NOW + DAY, 5)).toEqual({ deleted: 2, more: false })
      expect([await find({ text: 'needle' }), await find({ text: 'thread' })]).toEqual([
        [runId('kept')],
        [runId('kept')],
      ])
      await store.deleteAllRuns()
      expect(await find({ text: 'needle' })).toEqual([])
    })

    test('finds runs by tool, effect key, approver, metadata and without sub-agents, each beside the other filters', async () => {
      const session = aSession('a', { metadata: { order: 'A=1', team: 'desk' } })
      const vote = { approver: 'operator:ana', approved: true, at: NOW }
      await start(
        'a',
        {},
        {
          session,
          runs: [
            aRun(session),
            aRun(session, { id: runId('child'), parentRunId: session.rootRunId, depth: 1, startedAt: NOW - 1 }),
          ],
          calls: [aCall(session, 'acme.refunds@1.2.0')],
          tasks: [aTask(session, 't', { votes: [vote] })],
        },
      )
      await start('b', { startedAt: NOW + 1 })
      const a = runId('a')
      const stored = (await store.session(session.id))!
      await store.save(anUpdate(stored, { effects: [{ take: aClaim(stored, 'refund:A-1') }] }))
      expect(await find({ effect: 'refund:A-1' })).toEqual([a])
      expect(await find({ effect: 'refund:A-2' })).toEqual([])
      expect(await find({ tool: 'acme.refunds' })).toEqual([a])
      expect(await find({ tool: 'acme.refund' })).toEqual([])
      expect(await find({ approver: 'operator:ana' })).toEqual([a])
      expect(await find({ approver: 'operator:an' })).toEqual([])
      expect(await find({ person: 'operator:ana' })).toEqual([a])
      expect(await find({ metadata: { order: 'A=1' } })).toEqual([a, runId('child')])
      expect(await find({ metadata: { order: 'desk' } })).toEqual([])
      expect(await find({ metadata: { order: 'A=1' }, roots: true })).toEqual([a])
      expect(await find({ tool: 'acme.refunds', status: ['Completed'] })).toEqual([])
      expect(await find({ roots: true })).toEqual([runId('b'), a])
    })

    test('orders runs by what they took, the largest first, and leaves out those that took less', async () => {
      const took =
        (finishedAt: number | null, tokens: number, amounts: Record<string, string>) => (session: Session) => ({
          runs: [
            aRun(session, {
              finishedAt,
              status: finishedAt === null ? 'Running' : 'Completed',
              usage: { ...NOTHING_USED, inputTokens: tokens, outputTokens: 1, cost: { amounts, unpriced: 0 } },
            }),
          ],
        })
      const runs = {
        short: [NOW, took(NOW + 10, 500, { EUR: '0.10', USD: '0.25' })],
        long: [NOW + 1, took(NOW + 900, 20, {})],
        open: [NOW + 2, took(null, 20, { EUR: '2' })],
      } as const
      for (const [each, [startedAt, more]] of Object.entries(runs))
        await start(each, { startedAt }, more(aSession(each, { startedAt })))
      const [short, long, open] = ['short', 'long', 'open'].map(runId)
      const now = NOW + 500
      expect(await find({ sort: 'duration', now })).toEqual([long, open, short])
      expect(await find({ sort: 'tokens', now })).toEqual([short, open, long])
      expect(await find({ sort: 'cost', now })).toEqual([open, short, long])
      expect(await find({ sort: 'started', now })).toEqual([open, long, short])
      expect(await find({ minDurationMs: 498, now })).toEqual([open, long])
      expect(await find({ minTokens: 21, now, sort: 'cost' })).toEqual([open, short, long])
      expect(await find({ minTokens: 22, now })).toEqual([short])
      expect(await find({ minCost: 0.35, now })).toEqual([open, short])
      expect(await find({ minCost: 0.36, now })).toEqual([open])
      expect(await find({ sort: 'cost', now, until: NOW + 2 })).toEqual([short, long])
      expect(await find({ until: NOW + 1 })).toEqual([short])
      const page = { workspaceId: WORKSPACE, sort: 'duration', now } as const
      const { items, total } = await store.runs(page, { skip: 1, take: 1 })
      expect([items.map(({ id }) => id), total]).toEqual([[open], 3])
    })

    test('counts root runs by hour and outcome, and tells how long calls and completions took', async () => {
      const HOUR = 3_600_000
      const step = (ordinal: number, about: Partial<RunStep>) => (session: Session) => aStep(session, ordinal, about)
      const steps = [
        step(1, { content: { provider: 'scripted', model: 'desk' }, startedAt: NOW, finishedAt: NOW + 40 }),
        step(2, { type: 'PolicyDecision', content: { decision: 'allow' }, finishedAt: NOW + 2 }),
        step(3, { type: 'ToolCall', content: { ref: 'acme.pay' }, startedAt: NOW, finishedAt: NOW + 70, error: 'no' }),
        step(4, { type: 'ToolCall', content: { ref: 'acme.open' }, finishedAt: null }),
        step(5, { type: 'ToolResult', content: { result: 1 } }),
      ]
      const session = aSession('a')
      const child = aRun(session, { id: runId('child'), parentRunId: session.rootRunId, depth: 1 })
      await start('a', {}, { runs: [aRun(session), child], steps: steps.map((each) => each(session)) })
      await start('b', { startedAt: NOW + HOUR })
      await end(await start('c', { startedAt: NOW + HOUR }), '', 'gone')
      expect(await store.runCounts(WORKSPACE, NOW)).toEqual([
        { hour: 0, status: 'Running', errorCode: null, runs: 1 },
        { hour: 1, status: 'Failed', errorCode: null, runs: 1 },
        { hour: 1, status: 'Running', errorCode: null, runs: 1 },
      ])
      expect(await store.runCounts(WORKSPACE, NOW + 1)).toHaveLength(2)
      const marks = [
        { type: 'ToolCall', name: 'acme.pay', ms: 70, isFailed: true },
        { type: 'PolicyDecision', name: 'allow', ms: 0, isFailed: false },
        { type: 'Reasoning', name: 'scripted/desk', ms: 40, isFailed: false },
      ]
      expect(await store.stepMarks(WORKSPACE, NOW, 10)).toEqual(marks)
      expect(await store.stepMarks(WORKSPACE, NOW, 1)).toEqual(marks.slice(0, 1))
      expect(await store.stepMarks(WORKSPACE, NOW + 1, 10)).toEqual(marks.slice(1, 2))
    })

    test('finds runs by version, trigger and person, of a session that went on by who continued it', async () => {
      const by = (person: string, trigger: string) => ({
        triggerType: 'api' as const,
        triggeredBy: `key-of-${person}`,
        person,
        triggerId: null,
        triggerName: trigger,
      })
      const first = await start('a', { ...by('ana', 'web-shop'), versionLabel: '1.0.0' })
      await start('b', {
        ...by('bo', 'nightly'),
        person: null,
        triggerName: null,
        versionLabel: '2.0.0',
        startedAt: NOW + 1,
      })
      const ended = await end(first, 'Done.')
      const running = { ...ended, rootRunId: runId('next'), status: 'Running', finishedAt: null, output: null } as const
      const next = aRun(running, { startedAt: NOW + 9, starter: by('cy', 'phone'), versionLabel: '1.1.0' })
      await store.start(anUpdate(running, { runs: [next], subjects: ['engine.session.resumed'] }), NO_LIMITS)
      const [a, b] = [runId('a'), runId('b')]
      expect(await find({ versionLabel: '1.0.0' })).toEqual([a])
      expect(await find({ versionLabel: '1.0' })).toEqual([])
      expect(await find({ trigger: 'web-shop' })).toEqual([a])
      expect(await find({ trigger: 'api' })).toEqual([b])
      expect(await find({ trigger: 'phone' })).toEqual([next.id])
      expect(await find({ person: 'operator:ana' })).toEqual([a])
      expect(await find({ person: 'key:key-of-bo' })).toEqual([b])
      expect(await find({ person: 'operator:cy', versionLabel: '1.1.0' })).toEqual([next.id])
      expect(await find({ person: 'operator:cy', trigger: 'web-shop' })).toEqual([])
    })

    const word = fc.constantFrom('red', 'reddish', 'A-1', 'A-10', 'blå', 'naïve')
    const words = fc.array(word, { maxLength: 4 })
    /** Reads every run and compares whole words one by one. */
    const slowFind = (text: string, runs: readonly { readonly id: string; readonly texts: readonly string[] }[]) => {
      const wanted = text.split(' ').filter((each) => each !== '')
      const plain = (each: string): string => each.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
      const says = (said: string, each: string): boolean =>
        plain(said)
          .split(' ')
          .some((one) => one === plain(each) || one.startsWith(plain(each)) || one.includes(`-${plain(each)}`))
      return wanted.length === 0
        ? []
        : runs.filter(({ texts }) => texts.some((said) => wanted.every((each) => says(said, each)))).map(({ id }) => id)
    }

    test('finds what reading every run finds', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.record({ input: words, output: fc.option(words) }), { minLength: 1, maxLength: 6 }),
          fc.array(words, { minLength: 1, maxLength: 4 }),
          async (said, searches) => {
            await store.deleteAllRuns()
            const runs = []
            for (const [at, { input, output }] of said.entries()) {
              const session = await start(`r${at}`, { input: { text: input.join(' ') }, startedAt: NOW - at })
              if (output) await end(session, output.join(' '))
              runs.push({ id: runId(`r${at}`), texts: [input.join(' '), ...(output ? [output.join(' ')] : [])] })
            }
            for (const search of searches)
              expect(await find({ text: search.join(' ') })).toEqual(slowFind(search.join(' '), runs))
          },
        ),
        { numRuns: cases(60) },
      )
    })
  })
}
