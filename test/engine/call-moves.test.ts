import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { CallHandle } from '../../src/engine/transaction/call-handle.ts'
import { callMoves } from '../../src/engine/transaction/call-moves.ts'
import type { RunHandle } from '../../src/engine/transaction/transaction.ts'
import type { CallState, ToolCall } from '../../src/spec/run/run.ts'
import type { CallRow } from '../../src/store/session-update.ts'
import { inOrder, openBench, returns, snapshotOf, tool } from './bench.ts'
import { CALL_MOVE_EXAMPLES, playCallMove } from './call-move-examples.ts'
import { CALL_MOVES, watchCallMoves } from './watch-call-moves.ts'

type At = CallState['at']

const STATES = Object.keys(callMoves) as At[]
const PAIRS = STATES.flatMap((from) => STATES.map((to) => `${from} ${to}`))
const FILE = join(import.meta.dirname, '../../src/engine/transaction/call-moves.ts')
const drawing = readFileSync(FILE, 'utf8').split('*/')[0]!.split('\n')

/** The marks of the drawing: by `from to`, the letter in the column of `to`. */
function readMarks(): ReadonlyMap<string, string> {
  const head = drawing.findIndex((line) => STATES.every((state) => line.includes(state)))
  const columns = [...drawing[head]!.matchAll(/[a-z]+/g)].map(({ 0: state, index }) => ({
    state,
    index,
  }))
  const marks = new Map<string, string>()
  for (const line of drawing.slice(head + 1, head + 1 + STATES.length)) {
    const from = /[a-z]+/.exec(line)![0]
    for (const { 0: mark, index: at } of line.matchAll(/(?<= )[a-z](?= |$)/g)) {
      const column = columns.find(({ state, index }) => at >= index && at < index + state.length)
      marks.set(`${from} ${column?.state}`, mark)
    }
  }
  return marks
}

const marks = readMarks()

test('the drawing has the rows of the table, and says which of them only a resumption takes', () => {
  const rows = STATES.flatMap((from) =>
    Object.entries(callMoves[from]).map(([to, why]) => [`${from} ${to}`, why.startsWith('Resumed: ') ? 'r' : 'o']),
  )
  expect(Object.fromEntries(marks)).toEqual(Object.fromEntries(rows))
})

test('each arrow of the drawing that names both ends is a row of the table', () => {
  const arrows = drawing.flatMap((line) => [...line.matchAll(/([a-z]+) -+> ([a-z]+)/g)].map(([, ...ends]) => ends))
  expect(arrows.length).toBeGreaterThan(3)
  expect(arrows.map((ends) => ends.join(' ')).filter((move) => !CALL_MOVES.includes(move))).toEqual([])
})

test('each row says in a sentence why it exists', () => {
  const reasons = STATES.flatMap((from) => Object.values(callMoves[from]))
  expect(reasons.filter((why) => !/^[A-Z].{15,}\.$/.test(why))).toEqual([])
})

/** A call in a state, in a run that keeps what is recorded. */
function callAt(state: At, recorded: CallRow[]): CallHandle {
  const call = { id: 'c1', index: 0, name: 'pay', kind: 'tool', ref: 'acme.pay', arguments: {}, attempt: 1 }
  const tx = { session: { id: 's1' }, now: 1, recordCallRow: (row: CallRow) => void recorded.push(row) }
  const run = { id: 'r1', tx, record: { agentId: 'a1' }, callRow: () => undefined }
  return new CallHandle(run as unknown as RunHandle, 1, { ...call, state: { at: state } } as ToolCall)
}

function tryMove(call: CallHandle, next: CallState): CallState | string {
  try {
    return call.to(next).state
  } catch (error) {
    return String(error)
  }
}

test.each(PAIRS.map((pair) => [pair, marks.has(pair)] as const))(
  'a call goes from and to %s: %s; what is refused is not recorded',
  (pair, isLegal) => {
    const [from, to] = pair.split(' ') as [At, At]
    const recorded: CallRow[] = []
    const next = { at: to, outcome: 'executed' } as CallState
    const refusal = `Error: The call c1 of acme.pay cannot go from ${from} to ${to}.`
    expect(tryMove(callAt(from, recorded), next)).toBe(isLegal ? next : refusal)
    expect(recorded).toHaveLength(isLegal ? 1 : 0)
  },
)

const table = callMoves as Record<At, { [To in At]?: string }>
const rows = structuredClone(table)
const removeRow = (move: string): void => {
  const [from, to] = move.split(' ') as [At, At]
  delete table[from][to]
}
afterEach(() => void Object.assign(table, structuredClone(rows)))

test('a move that the table does not have fails the run, and nothing of what led to it is kept', async () => {
  removeRow('ready sent')
  const bench = await openBench({
    agents: [
      snapshotOf({
        name: 'root',
        tools: [tool('look'), tool('post', { sideEffectClass: 'irreversible_action' })],
      }),
    ],
    models: { root: inOrder({ calls: [{ name: 'look' }, { name: 'post' }] }, 'Done.') },
    tools: { look: () => returns(1), post: () => returns(1) },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  expect(bench.invoked).toEqual([])
  expect(await bench.store.run(run)).toMatchObject({ status: 'Failed', errorCode: 'internal' })
  const steps = await bench.timeline(run)
  expect(steps.map(({ type }) => type)).toEqual(['UserMessage', 'Reasoning', 'RunCompleted', 'SessionCompleted'])
  expect(steps[1]).toMatchObject({ content: { tool_calls: [] } })
  expect(await bench.store.calls({ sessionId: (await bench.store.run(run))!.sessionId })).toEqual([])
  await bench.engine.close(0)
})

test('each row of the table has an example', () => {
  expect(Object.keys(CALL_MOVE_EXAMPLES).toSorted()).toEqual(CALL_MOVES.toSorted())
})

test.each(Object.entries(CALL_MOVE_EXAMPLES))(
  'a call goes from and to %s only with that row',
  async (move, example) => {
    const watch = watchCallMoves()
    await playCallMove(example)
    removeRow(move)
    await expect(playCallMove(example)).rejects.toThrow(/^The call c1 of [a-z_.]+ cannot go from/)
    watch.end()
    expect([...watch.taken]).toContain(move)
    expect(watch.broken).toEqual([`refused: a call from ${move.replace(' ', ' to ')}`])
  },
)
