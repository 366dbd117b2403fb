/** Recorded calls decided again: why, with other arguments, and by edited policies. Source: docs/design/console.md#routes */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assert, asyncProperty, constantFrom, integer, record, sample } from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRefundServer, REFUND_DESK, type RefundServer } from '../../scripts/screens/refund-server.ts'
import type { RecordedDecision } from '../../src/operations/decisions.ts'
import { svc } from '../cli/recording-io.ts'

const LIMIT = 'policies/refund-limit.yaml'

let desk: RefundServer
let written: string
let decisions: readonly RecordedDecision[]

beforeAll(async () => {
  desk = await openRefundServer()
  written = readFileSync(join(desk.directory, LIMIT), 'utf8')
  for (const amount of sample(integer({ min: 1, max: 400 }), { numRuns: 8, seed: 7 }))
    await desk.start({ order: `A-${amount}`, amount })
  decisions = (await desk.operator.call('GET /decisions', { query: {} })).items
})

afterAll(() => desk.close())

const base = { agent: REFUND_DESK }
const edited = (from: string, to: string) => [{ path: LIMIT, text: written.replace(from, to) }]
const refund = (isAllowed: boolean): RecordedDecision =>
  decisions.find(({ ref, decision }) => ref === 'acme.refunds' && (decision === 'allow') === isAllowed)!
const amountOf = ({ arguments: args }: RecordedDecision): number => (args as { amount: number }).amount

describe('recorded decisions', () => {
  test('come in pages: the last, that of a named decision, call or arguments, or from a place on', async () => {
    const page = async (query: Readonly<Record<string, string>>) => {
      const { items, total, skipped = 0 } = await desk.operator.call('GET /decisions', { query })
      expect(items).toEqual(decisions.slice(skipped, skipped + items.length))
      expect(total).toBe(decisions.length)
      return [skipped, items.length]
    }
    const last = decisions.length - 4
    expect(await page({ take: '4' })).toEqual([last, 4])
    expect(await page({ take: '4', with: 'nobody' })).toEqual([last, 4])
    expect(await page({ take: '4', skip: '3' })).toEqual([3, 4])
    expect(await page({ take: '4', skip: '1000' })).toEqual([1000, 0])
    expect(await page({ skip: '3' })).toEqual([3, decisions.length - 3])
    expect(await page({ take: '500' })).toEqual([0, decisions.length])
    for (const [at, { decisionId, toolCallId, argsDigest }] of decisions.entries())
      for (const name of [decisionId, toolCallId, argsDigest]) {
        const [skipped] = await page({ take: '4', with: name })
        const named = decisions
          .slice(skipped, skipped! + 4)
          .map((each) => [each.decisionId, each.toolCallId, each.argsDigest])
        expect(named.flat(), `${at}`).toContain(name)
      }
  })
})

describe('what if', () => {
  test('lists the calls that an edited policy decides otherwise, and how many', async () => {
    const refunds = decisions.filter(({ ref }) => ref === 'acme.refunds')
    const flipped = refunds.filter((each) => amountOf(each) > 10 && each.decision === 'allow')
    const answer = await desk.operator.call('POST /what-if', {
      body: { base, edits: edited('value: 100', 'value: 10') },
    })
    const { authority, ...decided } = answer
    expect(authority).toMatchObject({ widens: false })
    expect(decided).toEqual({
      calls: decisions.length,
      flips: flipped.map(({ runId, toolCallId }) => ({
        runId,
        toolCallId,
        tool: 'acme.refunds',
        was: 'allow',
        now: 'require_approval',
        by: 'acme.refund-limit@1.0.0',
      })),
      decisions: flipped.map(({ decisionId }) => decisionId),
      changes: [{ was: 'allow', now: 'require_approval', flips: flipped.length }],
      findings: [],
    })
    expect(flipped.length).toBeGreaterThan(0)
  })

  test('shows what an edit may do more, with a call that shows it, as a comparison of the published versions would', async () => {
    const { authority } = await desk.operator.call('POST /what-if', {
      body: { base, edits: edited('value: 100', 'value: 500') },
    })
    const [change] = authority!.changes
    expect(authority).toMatchObject({ widens: true, changes: [{ kind: 'authority.widened', agent: REFUND_DESK }] })
    const { tool, before, after, arguments: args } = change!.witness!
    expect([tool, before, after]).toEqual(['acme.refunds', 'require_approval', 'allow'])
    expect((args as { amount: number }).amount).toBeGreaterThan(100)
    expect((args as { amount: number }).amount).toBeLessThanOrEqual(500)
    const other = await openRefundServer()
    await other.publish('1.1.0', { [LIMIT]: ['value: 100', 'value: 500'] })
    const published = await other.operator.call('GET /difference', {
      query: { agent: REFUND_DESK, from: '1.0.0', to: '1.1.0' },
    })
    await other.close()
    expect(published.changes.filter(({ widens }) => widens)).toEqual(authority!.changes.filter(({ widens }) => widens))
  })

  test('counts every flip, and shows as many as were asked for', async () => {
    const edits = edited('value: 100', 'value: 0')
    const {
      flips,
      decisions: ids,
      changes,
    } = await desk.operator.call('POST /what-if', { body: { base, edits, take: 1 } })
    expect([flips.length, ids.length]).toEqual([1, 1])
    const whole = await desk.operator.call('POST /what-if', { body: { base, edits } })
    expect(changes).toEqual(whole.changes)
    expect(changes.reduce((sum, each) => sum + each.flips, 0)).toBe(whole.flips.length)
  })

  test('decides nothing by a text that does not parse, and says where', async () => {
    const answer = await desk.operator.call('POST /what-if', { body: { base, edits: edited('op: gt', 'op: [') } })
    expect(answer).toMatchObject({ calls: 0, flips: [], findings: [{ path: LIMIT, severity: 'error' }] })
  })

  test('asks nothing of agents that are not named', async () => {
    const body = { base, edits: edited('value: 100', 'value: 10'), agent: 'acme.fraud-check' }
    expect(await desk.operator.call('POST /what-if', { body })).toMatchObject({ calls: 0, flips: [] })
  })

  test('says what svc policy backtest says, on generated policies', async () => {
    const policy = record({
      field: constantFrom('args.amount', 'history.workspace.this_tool.attempts', 'history.run.all_tools.executed'),
      op: constantFrom('gt', 'lte', 'eq', 'ne'),
      value: integer({ min: 0, max: 6 }).map((each) => (each < 3 ? each : each * 250)),
      type: constantFrom('require_approval', 'escalate', 'block'),
    })
    await assert(
      asyncProperty(policy, async ({ field, op, value, type }) => {
        const window = field.startsWith('history.workspace') ? '\n    window: 1h' : ''
        const head = written.slice(0, written.indexOf('  conditions:'))
        const text = `${head}  conditions:\n    field: ${field}\n    op: ${op}\n    value: ${value}${window}\n  decision:\n    type: ${type}\n    reason: Generated\n`
        const path = join(desk.directory, 'trial.yaml')
        writeFileSync(path, text)
        const { stdout, stderr } = await svc(['policy', 'backtest', '--policies', path, '--json'], {
          cwd: desk.directory,
        })
        const { calls, flips, assumed } = await desk.operator.call('POST /what-if', {
          body: { base, edits: [{ path: LIMIT, text }], take: 1000 },
        })
        expect(stderr).toBe('')
        expect(`${JSON.stringify({ calls, flips, ...(assumed && { assumed }) })}\n`).toBe(stdout)
      }),
      { numRuns: 12, seed: 11 },
    )
  })
})

describe('deciding a recorded call again', () => {
  test('shows the document of each policy that was asked, with the lines that decided', async () => {
    const { runId, decisionId } = refund(false)
    const { before, after, documents } = await desk.operator.call('POST /decide', {
      body: { run: runId, decision: decisionId },
    })
    expect([before.decision, before.by, after]).toEqual([
      'require_approval',
      { policy: 'acme.refund-limit', version: '1.0.0' },
      undefined,
    ])
    const shown = documents.find(({ policy }) => policy === 'acme.refund-limit@1.0.0')!
    const at = (line: number): string => shown.lines[line - shown.firstLine]!
    expect(shown.lines.join('\n')).toBe(written.trimEnd())
    const [comparison] = shown.comparisons
    expect([comparison!.text, at(comparison!.from), at(comparison!.to)]).toEqual([
      'args.amount > 100',
      '    field: args.amount',
      '    value: 100',
    ])
    expect(at(shown.decision!.from)).toBe('  decision:')
  })

  test('with other arguments decides by them, and lets the recorded call be', async () => {
    const { runId, decisionId, arguments: args } = refund(false)
    const { recorded, after } = await desk.operator.call('POST /decide', {
      body: { run: runId, decision: decisionId, arguments: { ...(args as object), amount: 100 } },
    })
    expect([recorded.decision, after!.decision]).toEqual(['require_approval', 'allow'])
  })

  test('by an edited policy shows both texts', async () => {
    const { runId, decisionId } = refund(true)
    const { before, after, documents } = await desk.operator.call('POST /decide', {
      body: { run: runId, decision: decisionId, base, edits: edited('value: 100', 'value: 0') },
    })
    expect([before.decision, after!.decision, after!.by.policy]).toEqual([
      'allow',
      'require_approval',
      'acme.refund-limit',
    ])
    expect(documents.filter(({ path }) => path === LIMIT).map(({ isEdited, lines }) => [isEdited, lines[12]])).toEqual([
      [false, '    value: 100'],
      [true, '    value: 0'],
    ])
  })

  test('refuses a decision of another run', async () => {
    const [here, there] = [refund(true), refund(false)]
    const wrong = { run: here.runId, decision: there.decisionId }
    await expect(desk.operator.call('POST /decide', { body: wrong })).rejects.toMatchObject({ status: 404 })
  })
})

describe('a published text', () => {
  test('is given back as it was written', async () => {
    const { files } = await desk.operator.call('GET /sources', { query: { id: REFUND_DESK } })
    for (const { path, text } of files) expect(text).toBe(readFileSync(join(desk.directory, path), 'utf8'))
    expect(files.map(({ path }) => path)).toContain('prompts/refund-desk.md')
  })

  test('that is not the one that was compiled is never shown as the one that decides', async () => {
    const { operator } = desk
    const snapshot = await operator.call('GET /snapshot', { query: { agent: REFUND_DESK } })
    const agent = 'acme.forged-desk'
    const { bundle } = await forged(agent, snapshot)
    const sources = [{ path: LIMIT, text: written.replace('value: 100', 'value: 999') }]
    await operator.call('POST /publish', { body: { bundle, deploy: true, sources } })
    const { runId } = await operator.call('POST /runs', { body: { agent, input: { order: 'A-1', amount: 700 } } })
    const session = (await desk.server.store.run(runId as never))!.sessionId
    await desk.server.engine.waitForPause({ id: runId as never, sessionId: session }, new AbortController().signal)
    const { items } = await operator.call('GET /decisions', { query: { run: runId } })
    const decided = items.find(({ ref }) => ref === 'acme.refunds')!
    const { documents } = await operator.call('POST /decide', { body: { run: runId, decision: decided.decisionId } })
    expect(documents.map(({ lines }) => lines.join('\n')).filter((text) => text.includes('999'))).toEqual([])
  })

  test.each(['../up.yaml', '/etc/passwd', 'a//b', 'c:\\x', ''])('is refused at the path "%s"', async (path) => {
    const body = { bundle: { agents: [], documents: [], closureDigest: 'sha256:0' }, sources: [{ path, text: '' }] }
    await expect(desk.operator.call('POST /publish', { body: body as never })).rejects.toMatchObject({ status: 400 })
  })
})

/** The same agent under another name, as whoever publishes may send it. */
async function forged(id: string, snapshot: object) {
  const { digestOfSnapshot } = await import('../../src/spec/snapshot.ts')
  const { digest: _, ...content } = { ...(snapshot as { digest: string }), id } as never as Parameters<
    typeof digestOfSnapshot
  >[0] & { digest: string }
  const agent = { ...content, digest: digestOfSnapshot(content) }
  return { bundle: { root: id, agents: [agent], documents: [], closureDigest: agent.digest } as never }
}
