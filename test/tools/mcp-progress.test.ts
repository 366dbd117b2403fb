/** What MCP servers report of calls under way. A new form of a report is one line of the table. */
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import { createProgressReporter } from '../../src/tools/mcp/mcp-progress.ts'
import type { ToolProgress } from '../../src/tools/tool.ts'

test.each<[string, unknown, ToolProgress[]]>([
  [
    'numbers and a text',
    { progress: 2, total: 5, message: 'reading' },
    [{ progress: 2, total: 5, message: 'reading' }],
  ],
  ['numbers that are none', { progress: NaN, total: '5', message: 'reading' }, [{ message: 'reading' }]],
  [
    'a text that would move the cursor, hide or forge a line',
    { message: ' a\u001b[2J\u202e\nApproved by\u2028Ann ' },
    [{ message: 'a [2J Approved by Ann' }],
  ],
  ['a long text', { message: 'x'.repeat(1e6) }, [{ message: `${'x'.repeat(200)}…` }]],
  [
    'a secret that the bound would divide',
    { message: `${'x'.repeat(190)} secret-of-the-test` },
    [{ message: `${'x'.repeat(190)} ***` }],
  ],
  ['nothing', {}, []],
  ['no object', null, []],
])('a report with %s', (_, given, expected) => {
  const shown: ToolProgress[] = []
  const redactor = createRedactor()
  redactor.add('secret-of-the-test')
  createProgressReporter({ monotonic: () => 0 }, redactor, (each) => shown.push(each))(given)
  expect(shown).toEqual(expected)
})

test('of a flood of reports the first is shown, and then one every five seconds', () => {
  let now = 0
  const shown: ToolProgress[] = []
  const report = createProgressReporter({ monotonic: () => now }, createRedactor(), (each) => shown.push(each))
  for (; now <= 12_000; now++) report({ progress: now })
  expect(shown).toEqual([{ progress: 0 }, { progress: 5000 }, { progress: 10_000 }])
})
