/** Images, sounds and PDFs that tools answered, through the vendors' official SDKs. */
import '../long-lived.ts'
import { expect, test } from 'vitest'
import type { ModelMessage } from '../../src/providers/provider.ts'
import { withToolMedia } from '../../src/providers/tool-media.ts'
import { acceptedMedia } from '../../src/providers/vendor-media.ts'
import type { ProviderType } from '../../src/spec/project/config.ts'
import type { MediaKind, ToolMedia } from '../../src/spec/tool-media.ts'
import { complete, requestWith, user } from './request.ts'
import { vendors, type VendorUnderTest } from './vendors.ts'

const PNG: ToolMedia = { kind: 'image', mediaType: 'image/png', data: 'AQID', longestEdge: 4 }
const PDF: ToolMedia = { kind: 'pdf', mediaType: 'application/pdf', data: 'JVBE' }
const WAV: ToolMedia = { kind: 'audio', mediaType: 'audio/wav', data: 'UklG' }

const calls = [
  { id: 'c1', name: 'shot', arguments: {} },
  { id: 'c2', name: 'look', arguments: {} },
]
const answer = (at: number, content: string, media?: readonly ToolMedia[]): ModelMessage => ({
  role: 'tool',
  callId: calls[at]!.id,
  name: calls[at]!.name,
  content,
  isError: false,
  ...(media && { media }),
})
const conversation = (...media: ToolMedia[]): ModelMessage[] => [
  user('Look.'),
  { role: 'assistant', text: '', calls },
  answer(0, 'a chart', media),
  answer(1, 'nothing'),
]

/** What the vendor's server gets of the results: the messages after those of user and assistant. */
async function sentTo(
  type: string,
  messages: readonly ModelMessage[],
  { model, media }: { readonly model?: string; readonly media?: readonly MediaKind[] } = {},
): Promise<unknown> {
  const vendor = vendors.find((each) => each.type === type)! as VendorUnderTest & {
    readonly type: ProviderType
  }
  const fake = await vendor.start([{ say: 'ok' }])
  try {
    const provider = withToolMedia(vendor.open(fake.url), (name) => acceptedMedia(vendor.type, name, media))
    await complete(provider, requestWith({ model: { provider: type, name: model ?? vendor.model }, messages }))
    const body = fake.requests[0]!.body as Record<string, unknown[]>
    const sent = body['messages'] ?? body['contents'] ?? body['input']!
    return sent.slice(sent.findLastIndex((each) => isOfModel(each)) + 1)
  } finally {
    await fake.close()
  }
}

function isOfModel(message: unknown): boolean {
  const { role, type } = message as { role?: string; type?: string }
  return role === 'assistant' || role === 'model' || type === 'function_call'
}

const dataUrl = ({ mediaType, data }: ToolMedia): string => `data:${mediaType};base64,${data}`

test('Anthropic gets images and PDFs within the result', async () => {
  expect(await sentTo('anthropic', conversation(PNG, PDF))).toEqual([
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          content: [
            { type: 'text', text: 'a chart' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
            },
          ],
        },
        {
          type: 'tool_result',
          tool_use_id: 'c2',
          content: 'nothing',
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
  ])
})

test('Bedrock gets images and PDFs within the result', async () => {
  expect(await sentTo('bedrock', conversation(PNG, PDF))).toEqual([
    {
      role: 'user',
      content: [
        {
          toolResult: {
            toolUseId: 'c1',
            content: [
              { text: 'a chart' },
              { image: { format: 'png', source: { bytes: 'AQID' } } },
              { document: { format: 'pdf', name: 'c1 2', source: { bytes: 'JVBE' } } },
            ],
          },
        },
        { toolResult: { toolUseId: 'c2', content: [{ text: 'nothing' }] } },
        { cachePoint: { type: 'default' } },
      ],
    },
  ])
})

test('the Responses API gets images and PDFs within the output', async () => {
  expect(await sentTo('openai', conversation(PNG, PDF))).toEqual([
    {
      type: 'function_call_output',
      call_id: 'c1',
      output: [
        { type: 'input_text', text: 'a chart' },
        { type: 'input_image', image_url: dataUrl(PNG), detail: 'auto' },
        { type: 'input_file', filename: 'result.pdf', file_data: dataUrl(PDF) },
      ],
    },
    { type: 'function_call_output', call_id: 'c2', output: 'nothing' },
  ])
})

test('chat completions get them in a message of the user after the last result', async () => {
  expect(await sentTo('openai-compatible', conversation(PNG, WAV), { media: ['image', 'audio'] })).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: 'a chart' },
    { role: 'tool', tool_call_id: 'c2', content: 'nothing' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Result of shot (c1):' },
        { type: 'image_url', image_url: { url: dataUrl(PNG) } },
        { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
      ],
    },
  ])
})

test.each([
  [
    'gemini-3-pro',
    [
      {
        functionResponse: {
          id: 'c1',
          name: 'shot',
          response: { output: 'a chart' },
          parts: [{ inlineData: { mimeType: 'image/png', data: 'AQID' } }],
        },
      },
      { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
    ],
  ],
  [
    'gemini-2.5-flash',
    [
      { functionResponse: { id: 'c1', name: 'shot', response: { output: 'a chart' } } },
      { inlineData: { mimeType: 'image/png', data: 'AQID' } },
      { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
    ],
  ],
])('%s gets them in its own form', async (model, parts) => {
  expect(await sentTo('gemini', conversation(PNG, WAV), { model })).toEqual([
    {
      role: 'user',
      parts: [...parts, { functionResponse: { id: 'c2', name: 'look', response: { output: 'nothing' } } }],
    },
  ])
})

/** Vendor, model, what a tool answered, what the project file says, and why the model does not get it; undefined where it does. */
const TAKEN: readonly (readonly [string, string, ToolMedia, readonly MediaKind[] | undefined, string | undefined])[] = [
  ['anthropic', 'claude-opus-5', PNG, undefined, undefined],
  ['anthropic', 'claude-3-haiku-20240307', PNG, undefined, undefined],
  [
    'anthropic',
    'claude-3-haiku-20240307',
    PDF,
    undefined,
    'anthropic/claude-3-haiku-20240307 does not take application/pdf',
  ],
  ['anthropic', 'claude-2.1', PNG, undefined, 'anthropic/claude-2.1 does not take image/png'],
  ['anthropic', 'claude-opus-5', WAV, undefined, 'anthropic/claude-opus-5 does not take audio/wav'],
  ['anthropic', 'claude-opus-5', PNG, [], 'anthropic/claude-opus-5 does not take image/png'],
  [
    'anthropic',
    'claude-opus-5',
    { ...PNG, longestEdge: 8001 },
    undefined,
    'its longer side has 8001 pixels, and anthropic/claude-opus-5 takes 8000',
  ],
  ['anthropic', 'claude-opus-5', { ...PNG, data: '[redacted]' }, undefined, 'it is not whole'],
  ['openai', 'gpt-4.1-mini', PNG, undefined, undefined],
  ['openai', 'gpt-4-turbo', PDF, undefined, 'openai/gpt-4-turbo does not take application/pdf'],
  ['openai', 'o3-mini', PNG, undefined, 'openai/o3-mini does not take image/png'],
  ['openai', 'gpt-3.5-turbo', PNG, undefined, 'openai/gpt-3.5-turbo does not take image/png'],
  ['azure-openai', 'my-deployment', PNG, undefined, 'azure-openai/my-deployment does not take image/png'],
  ['azure-openai', 'my-deployment', PNG, ['image'], undefined],
  ['openai-compatible', 'llama', PNG, undefined, 'openai-compatible/llama does not take image/png'],
  ['openai-compatible', 'llama', PNG, ['image'], undefined],
  ['bedrock', 'eu.anthropic.claude-sonnet-5', PDF, undefined, undefined],
  ['bedrock', 'us.amazon.nova-micro-v1:0', PNG, undefined, 'bedrock/us.amazon.nova-micro-v1:0 does not take image/png'],
  ['bedrock', 'us.amazon.nova-lite-v1:0', PNG, undefined, undefined],
  ['gemini', 'gemini-2.5-pro', WAV, undefined, undefined],
]

test.each(TAKEN)('%s %s with %o and %o in the project file', async (type, model, media, kinds, why) => {
  const sent = JSON.stringify(
    await sentTo(type, conversation(media), {
      model,
      ...(kinds !== undefined && { media: kinds }),
    }),
  )
  expect(sent.includes(media.data)).toBe(why === undefined)
  expect(/not shown, because (.*?)\]/.exec(sent)?.[1]).toBe(why)
})

test('a request has the newest, as far as there is room, and says of the others why they are missing', async () => {
  const round = (at: number, media: readonly ToolMedia[]): ModelMessage[] => [
    { role: 'assistant', text: '', calls: [{ ...calls[0]!, id: `c${at}` }] },
    { role: 'tool', callId: `c${at}`, name: 'shot', content: 'a chart', isError: false, media },
  ]
  const seven = Array.from({ length: 7 }, () => PNG)
  const messages = [user('Look.'), ...[1, 2, 3].flatMap((at) => round(at, seven)), user('And?')]
  const vendor = vendors.find(({ type }) => type === 'openai-compatible')!
  const fake = await vendor.start([{ say: 'ok' }, { say: 'ok' }])
  const provider = withToolMedia(vendor.open(fake.url), () => ({
    kinds: ['image'],
    types: ['image/png'],
  }))
  await complete(provider, requestWith({ messages }))
  const big = { ...PNG, data: 'A'.repeat(7 * 1024 * 1024) }
  await complete(provider, requestWith({ messages: [user('Look.'), ...[1, 2, 3].flatMap((at) => round(at, [big]))] }))
  await fake.close()
  const texts = fake.requests.map(({ body }) => JSON.stringify(body))
  expect(texts[0]!.split('AQID')).toHaveLength(21)
  const room = 'a chart\n[image/png, 3 bytes: not shown, because a request has room for 20 files of tools]'
  // The oldest result lacks its last one.
  expect(texts[0]!.split(JSON.stringify(room).slice(1, -1))).toHaveLength(2)
  expect(texts[1]!.split('"image_url":{').length - 1).toBe(2)
  expect(texts[1]).toContain('not shown, because a request has room for 12582912 bytes of files of tools]')
})
