import { expect, test } from 'vitest'
import { toHtml, toMarkdown } from '../../src/cli/reports/conversation.ts'
import type { Conversation } from '../../src/spec/api.ts'

const at = '2026-11-20T10:42:01.000Z'
const item = (ordinal: number, type: string, content: unknown, runId = 'r1', error: string | null = null) => ({
  ordinal,
  type,
  content,
  runId,
  error,
  startedAt: at,
})

/** Words that would leave their place if they were not kept there. */
const conversation = {
  session: { id: 's1', status: 'Failed', startedAt: at, finishedAt: at, totalTokensUsed: 12 },
  runs: [
    { id: 'r1', depth: 0, agentName: 'acme.desk', versionLabel: '1.0.0' },
    { id: 'r2', depth: 1, agentName: 'acme.check', versionLabel: '1.0.0' },
  ],
  items: [
    item(2, 'ToolCall', { name: 'pay', arguments: { note: '``` </pre><script>1</script>' } }, 'r2'),
    item(1, 'Reasoning', { text: '# not a heading\n<b>bold</b>\u001b[2J' }),
    item(3, 'RunCompleted', null, 'r1', 'The "model" is away.'),
  ],
} as unknown as Conversation

test('Markdown quotes what models say and fences what tools got, so that nothing leaves its place', () => {
  expect(toMarkdown(conversation).join('\n')).toBe(`# acme.desk@1.0.0

- status: Failed
- session: s1
- started: ${at}
- finished: ${at}
- tokens: 12

## 1 · Reasoning · ${at}

> # not a heading
> &lt;b>bold&lt;/b>

## 2 · sub-agent 1 · ToolCall · ${at}

\`\`\`\`json
{
  "name": "pay",
  "arguments": {
    "note": "\`\`\` </pre><script>1</script>"
  }
}
\`\`\`\`

## 3 · RunCompleted · ${at}

> error: The "model" is away.`)
})

test('HTML holds no element that a model or a tool wrote, and may run nothing', () => {
  const page = toHtml(conversation)
  expect(page).not.toMatch(/<script|<b>/)
  expect(page).toContain("default-src 'none'")
  expect(page).toContain('<p># not a heading\n&lt;b&gt;bold&lt;/b&gt;')
  expect(page).toContain('&lt;/pre&gt;&lt;script&gt;1&lt;/script&gt;')
  expect(page).toContain('<p>The &quot;model&quot; is away.</p>')
})
