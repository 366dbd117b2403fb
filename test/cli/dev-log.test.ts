/** What `svc dev` shows of its server's log. */
import { expect, test } from 'vitest'
import { withRedactedValues } from '../../src/base/log.ts'
import { createRedactor } from '../../src/base/secret.ts'
import { quietLog } from '../../src/cli/dev/announce.ts'

test('shows the first line of what an error was caused by, without secrets, and nothing of lesser lines', () => {
  const shown: string[] = []
  const redactor = createRedactor()
  redactor.add('sk-of-the-vendor')
  const log = withRedactedValues(
    quietLog({ message: (text: string) => void shown.push(text) } as never, null),
    redactor,
  )
  log.write('error', 'request failed', { detail: 'TypeError: no sk-of-the-vendor\n    at start (x.ts:1:1)' })
  log.write('error', 'A session could not be saved.', { error: 'Error: disk\u001b[2J' })
  log.write('warn', 'clock')
  log.write('info', 'request', { detail: 'x' })
  expect(shown).toEqual([
    'error: request failed: TypeError: no ***',
    'error: A session could not be saved.: Error: disk',
    'warn: clock',
  ])
})
