import { expect, test } from 'vitest'
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

test('lines that are printed while another program has the terminal come after it, above the block', async () => {
  const { screen, written, elapse } = record({ isTTY: true })
  screen.status('running')
  elapse()
  await screen.suspend(() => {
    expect(shown(written())).toEqual([])
    screen.lines('one')
    screen.status('2 tools')
    elapse()
    expect(shown(written())).toEqual([])
    return Promise.resolve()
  })
  expect(shown(written())).toEqual(['one', '2 tools'])
})
