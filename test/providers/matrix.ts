/** What each vendor honours: one row a feature, one test a cell. `docs/models.md` shows the answers. */
import { ProviderError, type CompletionRequest, type ModelMessage } from '../../src/providers/provider.ts'
import type { ToolMedia } from '../../src/spec/tool-media.ts'
import type { FakeAnswer, FakeModel } from '../fakes/model-server.ts'
import { complete, requestWith, user } from './request.ts'
import { VENDOR_KEY, vendors, type VendorUnderTest } from './vendors.ts'

export interface MatrixFeature {
  readonly name: string
  /** Whether the vendor's server saw, or the caller got, what the feature promises. Throws where it is half done. */
  readonly honours: (vendor: VendorUnderTest) => Promise<boolean>
}

interface Exchange {
  readonly texts: readonly string[]
  readonly completion: Awaited<ReturnType<typeof complete>>['completion']
  readonly fake: FakeModel
  /** The body of the last request as text. */
  readonly sent: string
}

/** Plays the script: one request for each list of messages, the first by default with one word of the user. */
async function play(
  vendor: VendorUnderTest,
  script: readonly FakeAnswer[],
  given: Partial<Omit<CompletionRequest, 'run' | 'model'>> = {},
): Promise<Exchange> {
  const fake = await vendor.start(script)
  try {
    const request = requestWith({ model: { provider: vendor.type, name: vendor.model }, ...given })
    const { texts, completion } = await complete(vendor.open(fake.url), request)
    return { texts, completion, fake, sent: JSON.stringify(fake.requests.at(-1)!.body) }
  } finally {
    await fake.close()
  }
}

/** The error of a completion that must not succeed, after exactly one request. */
async function failureOf(vendor: VendorUnderTest, answer: FakeAnswer): Promise<ProviderError> {
  const fake = await vendor.start([answer])
  try {
    const request = requestWith({ model: { provider: vendor.type, name: vendor.model } })
    const error: unknown = await complete(vendor.open(fake.url), request).catch((each: unknown) => each)
    if (!(error instanceof ProviderError)) throw new Error('No ProviderError', { cause: error })
    if (fake.requests.length !== 1) throw new Error(`${fake.requests.length} requests in place of one`)
    if (error.message.includes(VENDOR_KEY)) throw new Error('The key is in the message')
    return error
  } finally {
    await fake.close()
  }
}

const schema = {
  type: 'object',
  properties: { order: { type: 'string' } },
  required: ['order'],
  additionalProperties: false,
}
const tools = [{ name: 'lookup', description: 'Finds an order', schema }]
const calls = [
  { id: 'c1', name: 'lookup', arguments: { order: 'A-1' } },
  { id: 'c2', name: 'lookup', arguments: { order: 'B-2' } },
]
const thinking = { text: 'Let me look.', signature: 'c2lnbmF0dXJl' }

/** The messages of a second request, after the calls of the first. */
const afterCalls = ({ text, calls: made, hidden }: Exchange['completion']): ModelMessage[] => [
  user('Hello'),
  { role: 'assistant', text, calls: made, ...(hidden && { hidden }) },
  ...made.map(({ id, name }): ModelMessage => ({ role: 'tool', callId: id, name, content: '1', isError: false })),
]

const file = (filename: string, mediaType: string): ModelMessage => ({
  role: 'user',
  parts: [{ type: 'file', filename, mediaType, bytes: new Uint8Array([1, 2, 3]) }],
})

/** The request after a call that answered a file. */
const sentOfTool = async (vendor: VendorUnderTest, kind: ToolMedia['kind'], mediaType: string): Promise<string> => {
  const [call] = calls
  const media = [{ kind, mediaType, data: 'AQID' }]
  const messages: ModelMessage[] = [
    user('Hello'),
    { role: 'assistant', text: '', calls: [call!] },
    { role: 'tool', callId: call!.id, name: call!.name, content: 'See it.', media, isError: false },
  ]
  return (await play(vendor, [{ say: 'ok' }], { messages, tools })).sent
}

export const matrixFeatures: readonly MatrixFeature[] = [
  {
    name: 'text as it arrives',
    honours: async (vendor) => {
      const { texts, completion } = await play(vendor, [{ say: 'Hello there' }])
      return texts.length > 1 && completion.text === 'Hello there' && completion.finishReason === 'stop'
    },
  },
  {
    name: 'tools',
    honours: async (vendor) => {
      const { completion, sent } = await play(vendor, [{ calls: calls.slice(0, 1) }], { tools })
      return sent.includes('"lookup"') && completion.finishReason === 'tool_calls' && completion.calls.length === 1
    },
  },
  {
    name: 'parallel calls',
    honours: async (vendor) => {
      const first = await play(vendor, [{ calls }], { tools })
      const second = await play(vendor, [{ say: 'ok' }], { tools, messages: afterCalls(first.completion) })
      return first.completion.calls.length === 2 && second.sent.includes('A-1') && second.sent.includes('B-2')
    },
  },
  {
    name: 'strict tools',
    honours: async (vendor) => (await play(vendor, [{ say: 'ok' }], { tools })).sent.includes('"strict":true'),
  },
  {
    name: 'structured output',
    honours: async (vendor) =>
      (await play(vendor, [{ say: '{}' }], { outputSchema: schema })).sent.includes('"additionalProperties":false'),
  },
  {
    name: 'reasoning sent back',
    honours: async (vendor) => {
      const { completion } = await play(vendor, [{ thinking, calls }], { tools })
      const { sent } = await play(vendor, [{ say: 'ok' }], { tools, messages: afterCalls(completion) })
      return sent.includes(thinking.signature)
    },
  },
  {
    name: 'reasoning counted',
    honours: async (vendor) =>
      (await play(vendor, [{ say: 'ok', usage: { input: 9, output: 7, reasoning: 4 } }])).completion.usage
        .reasoningTokens === 4,
  },
  {
    name: 'cache asked for',
    honours: async (vendor) => /cache_control|cachePoint/.test((await play(vendor, [{ say: 'ok' }], { tools })).sent),
  },
  {
    name: 'cached input counted',
    honours: async (vendor) =>
      (await play(vendor, [{ say: 'ok', usage: { input: 9, output: 7, cached: 5 } }])).completion.usage
        .cachedInputTokens === 5,
  },
  {
    name: 'images',
    honours: async (vendor) =>
      (await play(vendor, [{ say: 'ok' }], { messages: [file('a.png', 'image/png')] })).sent.includes('AQID'),
  },
  {
    name: 'PDFs',
    honours: async (vendor) =>
      (await play(vendor, [{ say: 'ok' }], { messages: [file('b.pdf', 'application/pdf')] })).sent.includes('AQID'),
  },
  {
    name: 'images of tools',
    honours: async (vendor) => (await sentOfTool(vendor, 'image', 'image/png')).includes('AQID'),
  },
  {
    name: 'PDFs of tools',
    honours: async (vendor) => (await sentOfTool(vendor, 'pdf', 'application/pdf')).includes('AQID'),
  },
  {
    name: 'cut stream is retried',
    honours: async (vendor) => (await failureOf(vendor, { say: 'Half', cut: true })).retryable,
  },
  {
    name: 'silent end is retried',
    honours: async (vendor) => (await failureOf(vendor, { say: 'Half', finish: '' })).retryable,
  },
  {
    name: '429 is retried',
    honours: async (vendor) => {
      const error = await failureOf(vendor, {
        status: 429,
        error: { type: 'ThrottlingException', message: 'Slow down' },
        headers: { 'retry-after': '0' },
      })
      return error.retryable && error.status === 429 && error.message.includes('Slow down')
    },
  },
  {
    name: 'overload is retried',
    honours: async (vendor) => {
      const status = vendor.type === 'anthropic' ? 529 : 503
      const error = await failureOf(vendor, { status, error: { type: 'overloaded_error', message: 'Overloaded' } })
      return error.retryable && error.status === status
    },
  },
  {
    name: 'wrong key ends the run',
    honours: async (vendor) => {
      const error = await failureOf(vendor, {
        status: vendor.type === 'bedrock' ? 403 : 401,
        error: { type: 'AccessDeniedException', message: `No key ${VENDOR_KEY}` },
      })
      return !error.retryable && error.message.endsWith('No key ***. Check the key.')
    },
  },
]

/** The matrix as a table of Markdown, its columns aligned. */
export function drawMatrix(isHonoured: (vendor: string, feature: string) => boolean): string {
  const rows = [
    ['', ...vendors.map(({ type }) => `\`${type}\``)],
    ...matrixFeatures.map(({ name }) => [name, ...vendors.map(({ type }) => (isHonoured(type, name) ? 'yes' : '–'))]),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: readonly string[], fill: string): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!, fill)).join(' | ')} |\n`
  const [head, ...body] = rows.map((row) => line(row, ' '))
  const rule = line(
    widths.map(() => ''),
    '-',
  )
  return [head, rule, ...body].join('')
}
