/**
 * Forms in which servers answer, each as it comes over the wire, and what becomes of it. A form that was seen somewhere else is one
 * more line.
 */
import type { FinishReason, ModelUsage } from '../../src/providers/provider.ts'

/** The wire of one vendor; `open` tells the test how to ask it. */
export type Wire = 'chat' | 'responses' | 'anthropic' | 'gemini'

export interface AnswerForm {
  readonly wire: Wire
  readonly name: string
  /** Frames of the stream: an object becomes the data of an event, a text stays as it is. One object alone is a plain body. */
  readonly sent: readonly (object | string)[] | object
  /** What is read. Unnamed members are those of `hello`: the text "hello", ended by `stop`. */
  readonly read?: {
    readonly text?: string
    readonly finishReason?: FinishReason
    readonly calls?: readonly (readonly [name: string, args: unknown])[]
    readonly usage?: ModelUsage
  }
  /** The place of a form problem, and what it says. */
  readonly problem?: readonly [place: string, says: string]
  /** The answer may be asked for again. */
  readonly isRetried?: true
  /** The model could not be reached. */
  readonly isOutage?: true
}

const delta = (value: object, finish: unknown = null, more: object = {}) => ({
  choices: [{ index: 0, delta: value, finish_reason: finish }],
  ...more,
})
const DONE = 'data: [DONE]\n\n'
const END = [delta({}, 'stop'), DONE]
const chat = (name: string, sent: AnswerForm['sent'], rest: Partial<AnswerForm> = {}): AnswerForm => ({
  wire: 'chat',
  name,
  sent,
  ...rest,
})
/** An answer with this content. */
const content = (value: unknown) => [delta({ role: 'assistant', content: value }), ...END]
/** "hello" with a usage in a frame of its own. */
const usage = (value: unknown) => [delta({ content: 'hello' }), delta({}, 'stop'), { choices: [], usage: value }, DONE]
const call = (args: unknown, name = 'find') => ({ index: 0, id: 'a', function: { name, arguments: args } })

/** What `estimateUsage` says of the request of the test and "hello". */
const ESTIMATED = { inputTokens: 4, outputTokens: 2, estimated: true } as const

const event = (type: string, more: object = {}): object => ({ type, ...more })
const anthropic = (name: string, sent: AnswerForm['sent'], rest: Partial<AnswerForm> = {}): AnswerForm => ({
  wire: 'anthropic',
  name,
  sent,
  ...rest,
})
const START = event('message_start', { message: { usage: { input_tokens: 9, output_tokens: 1 } } })
const STOP = [
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
  event('message_stop'),
]
const block = (index: number, value: object) => event('content_block_start', { index, content_block: value })
const piece = (index: number, value: object) => event('content_block_delta', { index, delta: value })
const SAID = [block(0, { type: 'text', text: '' }), piece(0, { type: 'text_delta', text: 'hello' })]

const response = (name: string, sent: AnswerForm['sent'], rest: Partial<AnswerForm> = {}): AnswerForm => ({
  wire: 'responses',
  name,
  sent,
  ...rest,
})
const spoken = event('response.output_text.delta', { delta: 'hello' })
const completed = (more: object = {}) => event('response.completed', { response: { status: 'completed', ...more } })
const message = (value: unknown) => ({ type: 'message', role: 'assistant', content: value })

const gemini = (name: string, sent: AnswerForm['sent'], rest: Partial<AnswerForm> = {}): AnswerForm => ({
  wire: 'gemini',
  name,
  sent,
  ...rest,
})
const parts = (value: unknown, more: object = { finishReason: 'STOP' }) => ({
  candidates: [{ content: { role: 'model', parts: value }, ...more }],
})

/** Frames that the rules of event streams call no events. */
const NO_EVENTS: Readonly<Record<string, string>> = {
  comment: ': ping\n\n',
  'empty data': 'data:\n\n',
  'blank data': 'data: \n\n',
  'an event name alone': 'event: ping\n\n',
  'a retry alone': 'retry: 3000\n\n',
  'an id alone': 'id: 7\n\n',
  'blank data with CRLF': 'data: \r\n\r\n',
  'blank lines': '\n\n\n',
  'null as data': 'data: null\n\n',
}

export const answerForms: readonly AnswerForm[] = [
  ...Object.entries(NO_EVENTS).flatMap(([name, frame]) => [
    chat(name, [frame, delta({ content: 'hel' }), frame, delta({ content: 'lo' }), frame, ...END]),
    anthropic(name, [frame, START, frame, ...SAID, frame, ...STOP]),
    response(name, [frame, spoken, frame, completed()]),
    ...(name === 'null as data' ? [] : [gemini(name, [frame, parts([{ text: 'hello' }]), frame])]),
  ]),
  chat('CRLF throughout', [`data: ${JSON.stringify(delta({ content: 'hello' }))}\r\n\r\n`, ...END]),
  chat('data without a space', [`data:${JSON.stringify(delta({ content: 'hello' }))}\n\n`, ...END]),
  chat('the name of the field twice', [
    `data: data: ${JSON.stringify(delta({ content: 'hello' }, 'stop'))}\n\n`,
    'data: data: [DONE]\n\n',
  ]),
  chat('an odd mark after the end', [delta({ content: 'hello' }, 'stop'), 'data: DONE\n\n']),
  chat('an odd event after the end', [delta({ content: 'hello' }, 'stop'), 'event: close\ndata: bye\n\n']),
  chat('data over two lines', ['data: {"choices":\ndata: [{"delta":{"content":"hello"}}]}\n\n', ...END]),
  chat('a byte order mark', ['\ufeff', ...content('hello')]),
  chat('[DONE] without a finish reason', [delta({ content: 'hello' }), DONE]),
  chat('an empty finish reason', [delta({ content: 'hello' }), delta({}, ''), DONE]),
  chat('an end without [DONE] and without a finish reason', [delta({ content: 'hello' })], { isRetried: true }),
  chat('an end within an event', [delta({ content: 'hello' }), 'data: {"choices": [{"del'], { isRetried: true }),
  chat('an end without an event', [''], { isRetried: true, isOutage: true }),
  chat('an end after comments alone', [': processing\n\n'], { isRetried: true, isOutage: true }),
  chat('[DONE] without the last line break', [delta({ content: 'hello' }), 'data: [DONE]']),
  chat('a plain body', { choices: [{ message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }] }),
  chat('the message once more after the deltas', [
    delta({ content: 'hello' }),
    { choices: [{ index: 0, message: { content: 'hello' }, finish_reason: 'stop' }] },
    DONE,
  ]),
  chat('no choices', [{ id: 'x' }, { choices: null }, ...content('hello')]),
  chat(
    'content in parts',
    content([
      { type: 'text', text: 'hel' },
      { type: 'text', text: 'lo' },
    ]),
  ),
  chat('content as an object', content({ type: 'text', text: 'hello' })),
  chat('thinking among the parts', content([{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }, 'hello'])),
  chat(
    'references among the parts',
    content([
      { type: 'text', text: 'hello' },
      { type: 'reference', reference_ids: [1] },
    ]),
  ),
  chat('null as content', [delta({ content: null }), delta({ content: 'hello' }), ...END]),
  chat(
    'a pair of code units over two events',
    [
      'data: {"choices":[{"delta":{"content":"hello \\ud83d"}}]}\n\n',
      'data: {"choices":[{"delta":{"content":"\\ude00"}}]}\n\n',
      ...END,
    ],
    { read: { text: 'hello 😀' } },
  ),
  chat('half a pair of code units', ['data: {"choices":[{"delta":{"content":"hello\\ud83d"}}]}\n\n', ...END], {
    read: { text: 'hello\ufffd' },
  }),
  chat('a number as content', content(7), { problem: ['choices[0].delta.content', 'is a number, not a text'] }),
  chat('an object without a text', content({ url: 'x' }), {
    problem: ['choices[0].delta.content', 'is an object without a text'],
  }),
  chat('choices that are no list', [{ choices: 'none' }], { problem: ['choices', 'is "none", not a list'] }),
  chat('data that is no JSON', ['data: oops\n\n'], { problem: ['event 1', 'is no JSON: "oops"'] }),
  chat('a body that is no JSON', ['{oops'], { problem: ['the body', 'is no JSON: "{oops"'] }),
  chat('a finish reason of nobody', [delta({ content: 'hello' }, 'moonlight'), DONE], {
    problem: ['choices[0].finish_reason', 'is "moonlight", which is not a known reason to end an answer'],
  }),
  chat(
    'a finish reason of a server that broke off',
    [delta({ content: 'hello' }, 'insufficient_system_resource'), DONE],
    {
      isRetried: true,
    },
  ),
  chat(
    'the older form of a call',
    [
      delta({ function_call: { name: 'find', arguments: '{"q":' } }),
      delta({ function_call: { arguments: '"x"}' } }),
      delta({}, 'function_call'),
      DONE,
    ],
    { read: { text: '', finishReason: 'tool_calls', calls: [['find', { q: 'x' }]] } },
  ),
  chat(
    'a call in a second choice',
    [
      {
        choices: [
          { index: 0, delta: { content: 'hello' } },
          { index: 1, delta: { tool_calls: [call('{}')] } },
        ],
      },
      ...END,
    ],
    { read: { finishReason: 'tool_calls', calls: [['find', {}]] } },
  ),
  chat(
    'the same call in two choices',
    [{ choices: [0, 1].map((index) => ({ index, delta: { content: 'hello', tool_calls: [call('{}')] } })) }, ...END],
    { read: { finishReason: 'tool_calls', calls: [['find', {}]] } },
  ),
  ...(
    [
      ['null as text', 'null'],
      ['null', null],
      ['an empty text', ''],
      ['an object', {}],
    ] as const
  ).map(([name, args]) =>
    chat(`${name} as arguments`, [delta({ tool_calls: [call(args)] }), ...END], {
      read: { text: '', finishReason: 'tool_calls', calls: [['find', {}]] },
    }),
  ),
  chat('arguments printed as JSON twice', [delta({ tool_calls: [call('"{\\"q\\":\\"x\\"}"')] }), ...END], {
    read: { text: '', finishReason: 'tool_calls', calls: [['find', { q: 'x' }]] },
  }),
  chat('a prefix before the name', [delta({ tool_calls: [call('{}', 'functions.find')] }), ...END], {
    read: { text: '', finishReason: 'tool_calls', calls: [['find', {}]] },
  }),
  chat('null as a text for the finish reason', [delta({ content: 'hello' }, 'null'), delta({}, 'stop'), DONE]),
  chat("a reason with Gemini's own behind it", [delta({ content: 'hello' }, 'content_filter: RECITATION'), DONE], {
    read: { finishReason: 'content_filter' },
  }),
  chat(
    "a call that Gemini's filter broke off",
    [delta({ content: 'hello' }, 'function_call_filter: MALFORMED_FUNCTION_CALL'), DONE],
    { isRetried: true },
  ),
  chat(
    'thinking that only the total counts',
    usage({
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      completion_tokens_details: { reasoning_tokens: 94 },
    }),
    { read: { usage: { inputTokens: 32, outputTokens: 103, reasoningTokens: 94 } } },
  ),
  chat(
    'a usage of zeros after the usage',
    [
      delta({ content: 'hello' }, 'stop', { usage: { prompt_tokens: 30, completion_tokens: 10 } }),
      { choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
      DONE,
    ],
    { read: { usage: { inputTokens: 30, outputTokens: 10 } } },
  ),
  chat(
    'what was written to a cache',
    usage({ prompt_tokens: 30, completion_tokens: 10, cache_creation_input_tokens: 20 }),
    { read: { usage: { inputTokens: 30, outputTokens: 10, cacheWriteTokens: 20 } } },
  ),
  chat('usage in full', usage({ prompt_tokens: 30, completion_tokens: 10 }), {
    read: { usage: { inputTokens: 30, outputTokens: 10 } },
  }),
  chat(
    'usage in the choice',
    [
      {
        choices: [
          { delta: { content: 'hello' }, finish_reason: 'stop', usage: { prompt_tokens: 3, completion_tokens: 2 } },
        ],
      },
      DONE,
    ],
    {
      read: { usage: { inputTokens: 3, outputTokens: 2 } },
    },
  ),
  chat('usage as texts', usage({ prompt_tokens: '30', completion_tokens: '10' }), {
    read: { usage: { inputTokens: 30, outputTokens: 10 } },
  }),
  chat('usage in fractions', usage({ prompt_tokens: 30.5, completion_tokens: 10.25 }), {
    read: { usage: { inputTokens: 31, outputTokens: 11 } },
  }),
  chat('only totals', usage({ total_tokens: 40 }), {
    read: { usage: { inputTokens: 38, outputTokens: 2, estimated: true } },
  }),
  chat('a total and one part', usage({ prompt_tokens: 30, total_tokens: 37 }), {
    read: { usage: { inputTokens: 30, outputTokens: 7 } },
  }),
  chat(
    'more cached than read',
    usage({ prompt_tokens: 30, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 99 } }),
    {
      read: { usage: { inputTokens: 30, outputTokens: 10 } },
    },
  ),
  ...(
    [
      ['an empty object', {}],
      ['zeros', { prompt_tokens: 0, completion_tokens: 0 }],
      ['nulls', { prompt_tokens: null }],
      ['a list', []],
      ['impossible', { prompt_tokens: 1e300, completion_tokens: -1 }],
    ] as const
  ).map(([name, value]) => chat(`usage: ${name}`, usage(value), { read: { usage: ESTIMATED } })),
  chat('a negative part', usage({ prompt_tokens: -30, completion_tokens: 10 }), {
    read: { usage: { inputTokens: 4, outputTokens: 10, estimated: true } },
  }),

  anthropic(
    'a plain body',
    {
      type: 'message',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 2 },
    },
    {
      read: { usage: { inputTokens: 3, outputTokens: 2 } },
    },
  ),
  anthropic('no stop reason', [START, ...SAID, event('message_stop')], {
    read: { usage: { inputTokens: 9, outputTokens: 2, estimated: true } },
  }),
  anthropic('[DONE] in place of message_stop', [START, ...SAID, STOP[0]!, DONE]),
  anthropic('an end without message_stop', [START, ...SAID], { isRetried: true }),
  anthropic('a delta without its block', [START, piece(0, { type: 'text_delta', text: 'hello' }), ...STOP]),
  anthropic('text as parts', [START, block(0, { type: 'text', text: [{ text: 'hello' }] }), ...STOP]),
  anthropic(
    'two calls of one index',
    [
      START,
      block(0, { type: 'tool_use', id: 'a', name: 'find' }),
      piece(0, { type: 'input_json_delta', partial_json: '{"q":1}' }),
      block(0, { type: 'tool_use', id: 'b', name: 'find', input: { q: 2 } }),
      ...STOP,
    ],
    {
      read: {
        text: '',
        finishReason: 'tool_calls',
        calls: [
          ['find', { q: 1 }],
          ['find', { q: 2 }],
        ],
      },
    },
  ),
  anthropic(
    'an empty object before the pieces, and the whole once more',
    [
      START,
      block(0, { type: 'tool_use', id: 'a', name: 'find', input: {} }),
      ...['{}', '{"q":', '1}', '{"q":1}'].map((json) => piece(0, { type: 'input_json_delta', partial_json: json })),
      ...STOP,
    ],
    { read: { text: '', finishReason: 'tool_calls', calls: [['find', { q: 1 }]] } },
  ),
  anthropic(
    'input that the end counts as 0',
    [
      event('message_start', { message: { usage: { input_tokens: 9, cache_read_input_tokens: 4 } } }),
      ...SAID,
      event('message_delta', {
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 5 },
      }),
      event('message_stop'),
    ],
    { read: { usage: { inputTokens: 13, outputTokens: 5, cachedInputTokens: 4 } } },
  ),
  anthropic(
    'the reason of another API',
    [START, ...SAID, event('message_delta', { delta: { stop_reason: 'length' } }), event('message_stop')],
    { read: { finishReason: 'length' } },
  ),
  anthropic('null as input', [START, block(0, { type: 'tool_use', id: 'a', name: 'find', input: null }), ...STOP], {
    read: { text: '', finishReason: 'tool_calls', calls: [['find', {}]] },
  }),
  anthropic(
    'usage of nobody',
    [
      event('message_start', { message: {} }),
      ...SAID,
      event('message_delta', { delta: { stop_reason: 'end_turn' } }),
      event('message_stop'),
    ],
    {
      read: { usage: ESTIMATED },
    },
  ),
  anthropic('a number as text', [START, piece(0, { type: 'text_delta', text: 7 }), ...STOP], {
    problem: ['content_block_delta.delta.text', 'is a number, not a text'],
  }),

  response('a plain body', {
    object: 'response',
    status: 'completed',
    error: null,
    output: [message([{ type: 'output_text', text: 'hello' }])],
  }),
  response('no text but in the item', [
    event('response.output_item.done', { output_index: 0, item: message([{ type: 'output_text', text: 'hello' }]) }),
    completed(),
  ]),
  response('content as a text', [completed({ output: [message('hello')] })]),
  response('[DONE] without response.completed', [
    spoken,
    event('response.output_item.done', { output_index: 0, item: message('hello') }),
    DONE,
  ]),
  response('an end without response.completed', [spoken], { isRetried: true }),
  response(
    'a call that is never done',
    [
      event('response.output_item.added', {
        output_index: 0,
        item: { type: 'function_call', call_id: 'a', name: 'find', arguments: '' },
      }),
      event('response.function_call_arguments.delta', { output_index: 0, delta: '{"q":"x"}' }),
      completed(),
    ],
    { read: { text: '', finishReason: 'tool_calls', calls: [['find', { q: 'x' }]] } },
  ),
  response(
    'null as arguments',
    [
      event('response.output_item.done', {
        output_index: 0,
        item: { type: 'function_call', call_id: 'a', name: 'find', arguments: null },
      }),
      completed(),
    ],
    {
      read: { text: '', finishReason: 'tool_calls', calls: [['find', {}]] },
    },
  ),
  response(
    'two calls at one place',
    [
      ...[1, 2].flatMap((q) => {
        const item = { type: 'function_call', id: `f${q}`, call_id: `c${q}`, name: 'find', arguments: `{"q":${q}}` }
        return ['added', 'done'].map((state) => event(`response.output_item.${state}`, { output_index: 0, item }))
      }),
      completed(),
    ],
    {
      read: {
        text: '',
        finishReason: 'tool_calls',
        calls: [
          ['find', { q: 1 }],
          ['find', { q: 2 }],
        ],
      },
    },
  ),
  response(
    'a call whose ids change when it is done',
    [
      ...(['added', 'done'] as const).map((state) =>
        event(`response.output_item.${state}`, {
          output_index: 0,
          item: { type: 'function_call', id: state, call_id: `of ${state}`, name: 'find', arguments: '{}' },
        }),
      ),
      completed(),
    ],
    { read: { text: '', finishReason: 'tool_calls', calls: [['find', {}]] } },
  ),
  response(
    'a call at the end only',
    [
      event('response.output_item.done', { output_index: 0, item: message('hello') }),
      completed({ output: [message('hello'), { type: 'function_call', call_id: 'a', name: 'find', arguments: '{}' }] }),
    ],
    { read: { finishReason: 'tool_calls', calls: [['find', {}]] } },
  ),
  response('a refusal in the item', [completed({ output: [message([{ type: 'refusal', refusal: 'hello' }])] })], {
    read: { finishReason: 'content_filter' },
  }),
  response('the text of a part at its end', [event('response.output_text.done', { text: 'hello' }), completed()]),
  response('usage as texts', [spoken, completed({ usage: { input_tokens: '30', output_tokens: '10' } })], {
    read: { usage: { inputTokens: 30, outputTokens: 10 } },
  }),
  response('an empty usage', [spoken, completed({ usage: {} })], { read: { usage: ESTIMATED } }),
  response('a number as text', [event('response.output_text.delta', { delta: 7 })], {
    problem: ['response.output_text.delta delta', 'is a number, not a text'],
  }),

  gemini('a plain body', parts([{ text: 'hello' }])),
  gemini('a list as the body', [JSON.stringify([parts([{ text: 'hel' }], {}), parts([{ text: 'lo' }])])]),
  gemini('[DONE] at the end', [parts([{ text: 'hello' }]), DONE]),
  gemini('no finish reason', [parts([{ text: 'hello' }], {})], { isRetried: true }),
  gemini('arguments as a text', [parts([{ functionCall: { name: 'find', args: '{"q":"x"}' } }])], {
    read: { text: '', finishReason: 'tool_calls', calls: [['find', { q: 'x' }]] },
  }),
  gemini(
    'usage as texts',
    [{ ...parts([{ text: 'hello' }]), usageMetadata: { promptTokenCount: '30', candidatesTokenCount: '10' } }],
    {
      read: { usage: { inputTokens: 30, outputTokens: 10 } },
    },
  ),
  gemini('only totals', [{ ...parts([{ text: 'hello' }]), usageMetadata: { totalTokenCount: 40 } }], {
    read: { usage: { inputTokens: 38, outputTokens: 2, estimated: true } },
  }),
  gemini('a number as text', [parts([{ text: 7 }])], {
    problem: ['candidates[0].content.parts[0].text', 'is a number, not a text'],
  }),
]
