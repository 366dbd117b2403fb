/** What is told in the night, and what waits for the morning. Source: docs/design/notifications.md#quiet-hours */
import { expect, test } from 'vitest'
import { delayWhileQuiet } from '../../../src/server/notify/quiet-hours.ts'
import type { NoticeEvent } from '../../../src/spec/notice.ts'

const MINUTE = 60_000
const at = (text: string): number => Date.parse(text)
const NIGHT = delayWhileQuiet({ from: '22:00', to: '07:00', tz: 'Europe/Berlin' }, 15 * MINUTE)

/** In winter 21:00 in Berlin is 20:00 UTC. */
test.each<[string, NoticeEvent, string, string | undefined, string]>([
  ['by day', 'run.failed', '2026-01-15T12:00:00.000Z', undefined, '2026-01-15T12:00:00.000Z'],
  ['a minute before', 'run.failed', '2026-01-15T20:59:59.999Z', undefined, '2026-01-15T20:59:59.999Z'],
  ['as they begin', 'run.failed', '2026-01-15T21:00:00.000Z', undefined, '2026-01-16T06:00:00.000Z'],
  ['after midnight', 'deployment.changed', '2026-01-16T02:34:56.789Z', undefined, '2026-01-16T06:00:00.000Z'],
  ['as they end', 'task.decided', '2026-01-16T06:00:00.000Z', undefined, '2026-01-16T06:00:00.000Z'],
  ['a held run', 'run.held', '2026-01-15T23:00:00.000Z', undefined, '2026-01-15T23:00:00.000Z'],
  ['a reached budget', 'budget.reached', '2026-01-15T23:00:00.000Z', undefined, '2026-01-15T23:00:00.000Z'],
  ['a task without end', 'task.created', '2026-01-15T23:00:00.000Z', undefined, '2026-01-16T06:00:00.000Z'],
  [
    'a task of tomorrow',
    'task.created',
    '2026-01-15T23:00:00.000Z',
    '2026-01-16T06:15:00.000Z',
    '2026-01-16T06:00:00.000Z',
  ],
  [
    'a task of tonight',
    'task.created',
    '2026-01-15T23:00:00.000Z',
    '2026-01-16T06:14:59.999Z',
    '2026-01-15T23:00:00.000Z',
  ],
  ['its reminder', 'task.expiring', '2026-01-15T23:00:00.000Z', '2026-01-15T23:15:00.000Z', '2026-01-15T23:00:00.000Z'],
  // On 29 March 2026 the hour after 02:00 is left out.
  ['a short night', 'run.failed', '2026-03-28T21:30:00.000Z', undefined, '2026-03-29T05:00:00.000Z'],
])('%s', (_, event, due, expires, told) => {
  const expiresAt = expires === undefined ? undefined : at(expires)
  expect(new Date(NIGHT(event, at(due), expiresAt)).toISOString()).toBe(told)
})

test('a zone of odd minutes ends when it says', () => {
  const kathmandu = delayWhileQuiet({ from: '22:10', to: '06:20', tz: 'Asia/Kathmandu' }, 0)
  expect(new Date(kathmandu('run.failed', at('2026-01-15T20:00:00.000Z'), undefined)).toISOString()).toBe(
    '2026-01-16T00:35:00.000Z',
  )
})

test('quiet that never ends is over after a week', () => {
  const always = delayWhileQuiet({ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] }, 0)
  const begin = at('2026-01-15T20:00:00.000Z')
  expect(always('run.failed', begin, undefined) - begin).toBe(7 * 24 * 60 * MINUTE)
})

test('without them everything is told at once', () => {
  expect(delayWhileQuiet(undefined, 0)('run.failed', 5, undefined)).toBe(5)
})
