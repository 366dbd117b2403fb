import { afterEach, expect, test, vi } from 'vitest'
import { withSpinner } from '../../src/cli/shell/screen/spinner.ts'

afterEach(() => void vi.useRealTimers())

function open(options: { quiet?: boolean } = {}) {
  vi.useFakeTimers()
  let text = ''
  const stderr = { isTTY: false, width: 80, write: (given: string) => void (text += given) }
  const call = { io: { stderr }, mode: { quiet: options.quiet === true, accessible: false, color: { stderr: 0 } } }
  const slow = () => new Promise<string>((resolve) => setTimeout(() => resolve('done'), 1000))
  return { call: call as unknown as Parameters<typeof withSpinner>[0], slow, written: () => text }
}

test('work of more than 200 ms is told in one line where there is no terminal', async () => {
  const { call, slow, written } = open()
  const answer = withSpinner(call, 'asking MCP server "orders\u001b[2J" for its tools', slow)
  await vi.advanceTimersByTimeAsync(199)
  expect(written()).toBe('')
  await vi.advanceTimersByTimeAsync(801)
  expect(await answer).toBe('done')
  expect(written()).toBe('asking MCP server "orders" for its tools\n')
})

test('--quiet and short work show nothing', async () => {
  const { call, slow, written } = open({ quiet: true })
  const answer = withSpinner(call, 'asking', slow)
  await vi.advanceTimersByTimeAsync(1000)
  expect(await answer).toBe('done')
  expect(await withSpinner(open().call, 'asking', () => Promise.resolve(1))).toBe(1)
  expect(written()).toBe('')
})
