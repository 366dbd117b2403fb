/** The axis and the tree of a run's timeline. Source: docs/design/console.md#timeline */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAxis, type TimeSpan } from '../../src/console/timeline/axis.ts'
import { createTimeline, findAnswer } from '../../src/console/timeline/tree.ts'
import type { OutlineRow, OutlineRun } from '../../src/operations/runs.ts'

const DAY = 86_400_000

describe('the axis', () => {
  test('is straight where nothing waited', () => {
    const axis = createAxis([
      { from: 1000, to: 1400 },
      { from: 1400, to: 2000 },
    ])
    expect(axis.cuts).toEqual([])
    expect([900, 1000, 1250, 2000, 3000].map((moment) => axis.place(moment))).toEqual([0, 0, 0.25, 1, 1])
  })

  test('leaves out two days of waiting, and says where', () => {
    const axis = createAxis([
      { from: 0, to: 4000 },
      { from: 2 * DAY, to: 2 * DAY + 4000 },
    ])
    expect(axis.cuts).toEqual([{ from: 4000, to: 2 * DAY, at: 0.4875, width: 0.025 }])
    expect(axis.place(DAY)).toBeCloseTo(0.5, 2)
  })

  test('keeps a gap that is short beside the rest, or shorter than a second', () => {
    expect(
      createAxis([
        { from: 0, to: 60_000 },
        { from: 62_000, to: 99_000 },
      ]).cuts,
    ).toEqual([])
    expect(
      createAxis([
        { from: 0, to: 10 },
        { from: 900, to: 910 },
      ]).cuts,
    ).toEqual([])
  })

  const spans = fc.array(
    fc
      .record({ from: fc.nat(10 * DAY), length: fc.nat(100_000) })
      .map(({ from, length }): TimeSpan => ({ from, to: from + length })),
    { maxLength: 30 },
  )

  test('never runs backwards, ends at 1, and cuts no time in which something was done', () => {
    fc.assert(
      fc.property(spans, (given) => {
        const axis = createAxis(given)
        const { cuts } = axis
        const moments = given.flatMap(({ from, to }) => [from, to]).sort((a, b) => a - b)
        const places = moments.map((each) => axis.place(each))
        for (const [at, each] of places.entries()) {
          expect(each).toBeGreaterThanOrEqual(at === 0 ? 0 : places[at - 1]! - 1e-9)
          expect(each).toBeLessThanOrEqual(1)
        }
        const hasLength = moments.length > 0 && moments.at(-1)! > moments[0]!
        expect(hasLength ? places.at(-1) : 1).toBeCloseTo(1, 6)
        for (const cut of cuts)
          expect(given.filter(({ from, to }) => from < cut.to && to > cut.from && to > from)).toEqual([])
      }),
    )
  })
})

const run = (about: Partial<OutlineRun>): OutlineRun => ({
  runId: 'root',
  parentRunId: null,
  parentCallId: null,
  depth: 0,
  agent: 'acme.desk',
  versionLabel: '1.0.0',
  status: 'Completed',
  startedAt: '2026-11-20T10:00:00.000Z',
  finishedAt: '2026-11-20T10:00:01.000Z',
  totalTokensUsed: 0,
  ...about,
})

const row = (
  ordinal: number,
  of: number,
  type: string,
  about: Partial<Record<'summary' | 'call', string>> = {},
  from = ordinal,
  to: number | null = ordinal,
): OutlineRow => [ordinal, of, type, about.summary ?? '', from, to, null, about.call ?? null, 0]

describe('the tree', () => {
  const runs = [
    run({}),
    run({ runId: 'a', parentRunId: 'root', parentCallId: 'c1', depth: 1 }),
    run({ runId: 'b', parentRunId: 'root', parentCallId: 'c2', depth: 1 }),
  ]
  // Two sub-agents at the same time: their steps are mixed.
  const rows = [
    row(1, 0, 'UserMessage'),
    row(2, 0, 'PolicyDecision', { summary: 'ask allow', call: 'c1' }),
    row(3, 0, 'SubAgentCall', { call: 'c1' }),
    row(4, 0, 'SubAgentCall', { call: 'c2' }),
    row(5, 2, 'Reasoning'),
    row(6, 1, 'Reasoning'),
    row(7, 2, 'Output'),
    row(8, 1, 'PolicyDecision', { summary: 'pay require approval', call: 'x' }),
    row(9, 1, 'Output'),
    row(10, 0, 'SubAgentResult', { call: 'c1' }),
  ]
  const shown = (options: { all?: boolean; closed?: number[] } = {}) =>
    createTimeline({ runs, rows }, { all: options.all ?? false, closed: new Set(options.closed), now: 10 }).rows.map(
      ({ ordinal, level }) => `${'·'.repeat(level)}${ordinal}`,
    )

  test('puts the steps of a sub-agent below its call, and leaves out what says nothing', () => {
    expect(shown()).toEqual(['1', '3', '·6', '·8', '·9', '4', '·5', '·7'])
  })

  test('shows every step on demand, and none of a run that is closed', () => {
    expect(shown({ all: true, closed: [1] })).toEqual(['1', '2', '3', '4', '·5', '·7', '10'])
  })

  test('names what a cut waited for, and lets a run that goes on end now', () => {
    const waiting = [row(1, 0, 'Reasoning', {}, 0, 2000), row(2, 0, 'UserTaskReq', {}, 2000, null)]
    const { waits, axis } = createTimeline(
      { runs: [run({ finishedAt: null, status: 'WaitingForHITL' })], rows: waiting },
      { all: false, closed: new Set(), now: DAY },
    )
    expect(waits).toEqual(['for a person'])
    expect(axis.place(DAY)).toBe(1)
  })
})

describe('a call in the timeline', () => {
  const row = (ordinal: number, type: string, summary: string, callId: string | null, isError: 0 | 1 = 0, run = 0) =>
    [ordinal, run, type, summary, ordinal, ordinal + 1, null, callId, isError] as const

  test('shows what was answered to it, of its own run and its own id, and whether that was an error', () => {
    const rows = [
      row(1, 'ToolCall', 'acme.look {"order":"A-1"}', 'call_1'),
      row(2, 'ToolCall', 'acme.pay {"amount":5}', 'call_2'),
      row(3, 'ToolResult', '{"paid":5}', 'call_1', 0, 1),
      row(4, 'ToolResult', 'No such account.', 'call_2', 1),
      row(5, 'ToolResult', '{"state":"damaged"}', 'call_1'),
      row(6, 'ToolCall', 'acme.pay {"amount":6}', 'call_3'),
    ]
    const { rows: shown } = createTimeline(
      { runs: [run({ runId: 'a' }), run({ runId: 'b' })], rows },
      { all: false, closed: new Set(), now: 9 },
    )
    expect(shown.map(({ summary, isError }) => [summary, isError])).toEqual([
      ['acme.look {"order":"A-1"} → {"state":"damaged"}', false],
      ['acme.pay {"amount":5} → No such account.', true],
      ['acme.pay {"amount":6}', false],
    ])
    expect([1, 2, 5, 6].map((ordinal) => findAnswer(rows, ordinal))).toEqual([5, 4, undefined, undefined])
  })
})
