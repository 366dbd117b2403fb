import { Writable } from 'node:stream'
import { expect, test, vi } from 'vitest'
import { createProgress } from '../../src/terminal/progress.ts'
import { record, shown } from './recording.ts'

test('lines scroll, the status block stays under them', () => {
  const { screen, written, elapse } = record({ isTTY: true })
  screen.lines('one')
  screen.status('running', '2 tools')
  elapse()
  expect(shown(written())).toEqual(['one', 'running', '2 tools'])
  screen.lines('two')
  expect(shown(written())).toEqual(['one', 'two', 'running', '2 tools'])
  screen.status('done')
  elapse()
  expect(shown(written())).toEqual(['one', 'two', 'done'])
  screen.status()
  expect(shown(written())).toEqual(['one', 'two'])
})

test('a block is drawn once per frame, as it is last', () => {
  const { screen, written, elapse } = record({ isTTY: true })
  for (let at = 0; at < 100; at++) screen.status(`${at} %`)
  expect(written()).toBe('')
  elapse()
  expect(written()).toBe('99 %\n')
})

test('a block that is wider than the terminal is erased whole', () => {
  const { screen, written, elapse } = record({ isTTY: true, width: 10 })
  screen.status('x'.repeat(25), 'y')
  elapse()
  screen.status()
  expect(written().endsWith('\r\x1b[4A\x1b[J')).toBe(true)
})

test('a pipe gets lines and no block', () => {
  const { screen, written, elapse } = record({ isTTY: false })
  screen.status('running')
  elapse()
  screen.lines('one', 'two')
  expect(written()).toBe('one\ntwo\n')
  expect(screen.width).toBe(Number.POSITIVE_INFINITY)
})

test('progress says nothing of what is quick', () => {
  const { screen, later, written, elapse } = record({ isTTY: false })
  const progress = createProgress(screen, undefined, later)
  progress.phase('compiling')
  progress.stop()
  elapse()
  expect(written()).toBe('')
})

test('progress on a pipe is a line a phase, from the one that is under way after 200 ms', () => {
  const { screen, later, written, elapse } = record({ isTTY: false })
  const progress = createProgress(screen, undefined, later)
  progress.phase('compiling')
  progress.phase('publishing\x1b[31m')
  elapse()
  progress.phase('deploying')
  progress.stop()
  progress.phase('never')
  expect(written()).toBe('publishing\ndeploying\n')
})

test('progress on a terminal is a spinner, gone when it stops', async () => {
  const { screen, later, written, elapse } = record({ isTTY: true })
  let drawn = ''
  const moves = { isTTY: true, columns: 80, clearLine: () => true, cursorTo: () => true, moveCursor: () => true }
  const stream = Object.assign(
    new Writable({
      write(chunk, _, done) {
        drawn += String(chunk)
        done()
      },
    }),
    moves,
  )
  const progress = createProgress(screen, stream, later)
  progress.phase('compiling')
  elapse()
  await vi.waitFor(() => expect(drawn).toContain('compiling'))
  progress.phase('publishing')
  await vi.waitFor(() => expect(drawn).toContain('publishing'))
  progress.stop()
  expect(written()).toBe('')
})
