import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json/json.ts'
import { ProviderError, type ModelMessage } from '../../src/providers/provider.ts'
import { scriptedProvider } from '../../src/providers/scripted.ts'
import type { ScriptTurn } from '../../src/spec/snapshot.ts'
import { answered, assistant, complete, requestWith, user } from './request.ts'

const play = (script: readonly ScriptTurn[], given: Parameters<typeof requestWith>[0] = {}) =>
  complete(scriptedProvider, requestWith({ ...given, model: { script } }))

const refusal = async (
  script: readonly ScriptTurn[] | undefined,
  given: Parameters<typeof requestWith>[0] = {},
): Promise<ProviderError> => {
  try {
    await complete(scriptedProvider, requestWith({ ...given, model: script === undefined ? {} : { script } }))
  } catch (error) {
    if (error instanceof ProviderError) return error
    throw error
  }
  throw new Error('It answered.')
}

test('says the first turn in several parts that join to the text', async () => {
  const { texts, completion } = await play([{ say: 'The item arrived broken, so a refund is due.' }])
  expect(texts).toEqual(['The item arrived broken, ', 'so a refund is ', 'due.'])
  expect(completion).toEqual({
    text: 'The item arrived broken, so a refund is due.',
    finishReason: 'stop',
    calls: [],
    usage: { inputTokens: 4, outputTokens: 11 },
  })
})

test('calls one tool or several, with ids that are unique in the run', async () => {
  const script = [
    {
      call: [{ tool: 'lookup', arguments: { order: 'A-1' } }, { tool: 'stock' }],
      usage: { input_tokens: 7, output_tokens: 3 },
    },
  ]
  expect((await play(script, { run: { turn: 4 } })).completion).toEqual({
    text: '',
    finishReason: 'tool_calls',
    calls: [
      { id: 'call_4_1', name: 'lookup', arguments: { order: 'A-1' } },
      { id: 'call_4_2', name: 'stock', arguments: {} },
    ],
    usage: { inputTokens: 7, outputTokens: 3 },
  })
})

test('a logical id calls the tool that is offered under its last part', async () => {
  const tools = [{ name: 'lookup', description: '', schema: true }]
  const { completion } = await play([{ call: { tool: 'acme.orders.lookup' } }], { tools })
  expect(completion.calls[0]?.name).toBe('lookup')
})

test('an object to say is said as JSON', async () => {
  expect(
    (await play([{ say: { refunded: '${input.amount}' } }], { run: { input: { amount: 180 } } })).completion.text,
  ).toBe('{"refunded":180}')
})

describe('references', () => {
  const given = {
    run: {
      input: { order: 'A-1042', amount: 180, lines: [{ sku: 'x1' }] },
      results: [
        { name: 'lookup', callId: 'call_1_1', result: { status: 'lost' }, isError: false },
        {
          name: 'lookup',
          callId: 'call_2_1',
          result: { status: 'delivered', 'line-items': [{ id: 7 }] },
          isError: false,
        },
      ],
    },
  }
  test.each<[string, JsonValue]>([
    ['${input.order}', 'A-1042'],
    ['${input.amount}', 180],
    ['${input.lines}', [{ sku: 'x1' }]],
    ['${input.lines[0].sku}', 'x1'],
    ['${ results.lookup.status }', 'delivered'],
    ['${results.lookup.line-items.0.id}', 7],
    ['Order ${input.order}: ${input.amount} for ${input.lines}', 'Order A-1042: 180 for [{"sku":"x1"}]'],
    ['$${input.order} costs 5$', '${input.order} costs 5$'],
  ])('%s is %j', async (text, value) => {
    const { completion } = await play([{ call: { tool: 't', arguments: { value: text } } }], given)
    expect(completion.calls[0]?.arguments).toEqual({ value })
  })

  test.each([
    '${input.nothing}',
    '${results.refund.id}',
    '${input.order.x}',
    '${}',
    '${env.HOME}',
    '${input.__proto__}',
  ])('%s names nothing, which ends the run', async (text) => {
    const error = await refusal([{ say: 'x', call: { tool: 't', arguments: { value: text } } }], given)
    expect([error.message, error.retryable]).toEqual([`Turn 1 of the script: ${text} names nothing.`, false])
  })
})

describe('the turn is found in the transcript alone', () => {
  const ordered: ScriptTurn[] = [{ call: { tool: 'lookup' } }, { call: { tool: 'refund' } }, { say: 'Done.' }]
  const history: ModelMessage[] = [
    user('Hello'),
    assistant('', { id: 'a', name: 'lookup' }),
    answered('lookup', '{}'),
    assistant('', { id: 'b', name: 'refund' }),
    answered('refund', '{}'),
  ]
  test.each([
    [1, 'lookup'],
    [3, 'refund'],
    [5, 'Done.'],
  ])('after %i messages it is %s', async (count, what) => {
    const { completion } = await play(ordered, { messages: history.slice(0, count) })
    expect(completion.calls[0]?.name ?? completion.text).toBe(what)
  })

  test('a request that leaves the transcript out, as one that mends an output does, gets the turn after it', async () => {
    const { completion } = await play([{ say: '{' }, { say: '{}' }], {
      messages: [user('Mend this JSON.')],
      run: { turn: 2, earlier: [user('Hello'), assistant('{')] },
    })
    expect(completion.text).toBe('{}')
  })

  test('a script that is used up says so', async () => {
    const error = await refusal([{ say: 'One.' }], {
      messages: [user('Hello'), assistant('One.'), user('And?')],
      run: { turn: 2 },
    })
    expect([error.message, error.retryable]).toEqual([
      'The script is used up: completion 2 finds none of its 1 turns left, the last being turn 1.',
      false,
    ])
  })

  test('a model without a script says so', async () => {
    expect((await refusal(undefined)).message).toBe(
      'The scripted model has no script; provider_options.script names one.',
    )
  })
})

describe('when', () => {
  test.each<[string, NonNullable<ScriptTurn['when']>, boolean]>([
    ['text of the person', { contains: 'broken' }, true],
    ['other text', { contains: 'lost' }, false],
    ['a pattern', { matches: String.raw`A-\d+` }, true],
    ['a pattern that is elsewhere', { matches: '^A-' }, false],
    ['a tool that has not answered', { tool: 'lookup' }, false],
    ['input', { input: { order: 'A-1' } }, true],
    ['part of an object of the input', { input: { customer: { tier: 'gold' } } }, true],
    ['other input', { input: { order: 'A-2' } }, false],
    ['every matcher at once', { contains: 'broken', input: { order: 'A-2' } }, false],
  ])('%s', async (_, when, holds) => {
    const given = {
      messages: [user('A broken A-1')],
      run: { input: { order: 'A-1', customer: { tier: 'gold', id: 1 } } },
    }
    const messages = [user('Order A-1 is broken')]
    const { completion } = await play([{ say: 'else' }, { when, say: 'picked' }], { ...given, messages })
    expect(completion.text).toBe(holds ? 'picked' : 'else')
  })

  test('a tool is matched among all results of the last completion', async () => {
    const messages = [
      user('x'),
      assistant('', { id: 'a', name: 'lookup' }, { id: 'b', name: 'stock' }),
      answered('lookup', '1'),
      answered('stock', '2'),
    ]
    const { completion } = await play([{ say: 'else' }, { when: { tool: 'acme.orders.lookup' }, say: 'picked' }], {
      messages,
    })
    expect(completion.text).toBe('picked')
  })

  test('turns with the same matcher are played one after the other, then the last again', async () => {
    const when = { input: { order: 'A-1' } }
    const script = [
      { when: { input: { order: 'A-2' } }, say: 'other order' },
      { when, say: 'one' },
      { when, say: 'two' },
    ]
    const said: string[] = []
    const messages: ModelMessage[] = [user('Hello')]
    for (let turn = 1; turn <= 3; turn++) {
      const { completion } = await play(script, { messages, run: { turn, input: { order: 'A-1' } } })
      said.push(completion.text)
      messages.push(assistant(completion.text), user('Go on'))
    }
    expect(said).toEqual(['one', 'two', 'two'])
  })

  test('a turn chosen by a matcher uses up none of the others', async () => {
    const script = [{ say: 'first' }, { when: { contains: 'aside' }, say: 'aside' }, { say: 'second' }]
    const messages = [user('Hello'), assistant('first'), user('an aside'), assistant('aside'), user('Go on')]
    expect((await play(script, { messages })).completion.text).toBe('second')
  })

  test('a pattern that is not RE2 says so', async () => {
    expect((await refusal([{ when: { matches: '(?=x)' }, say: 'x' }])).message).toMatch(
      /^The script's pattern "\(\?=x\)" is not valid RE2: /,
    )
  })
})

describe('fail', () => {
  test.each<[NonNullable<ScriptTurn['fail']>, string, number | undefined, boolean]>([
    ['No such model.', 'No such model.', undefined, false],
    [{ status: 503 }, 'Turn 1 of the script fails with 503.', 503, true],
    [{ status: 400, message: 'Bad request' }, 'Bad request', 400, false],
    [{ status: 429, message: 'Slow down' }, 'Slow down', 429, true],
  ])('%j', async (fail, message, status, retryable) => {
    const error = await refusal([{ fail }])
    expect([error.message, error.status, error.retryable]).toEqual([message, status, retryable])
  })

  const script: ScriptTurn[] = [
    { fail: { status: 503 } },
    { fail: { status: 500 } },
    { say: 'Here I am.' },
    { say: 'And again.' },
  ]
  test('each attempt uses up the failing turn it met', async () => {
    expect((await refusal(script, { run: { attempt: 1 } })).status).toBe(503)
    expect((await refusal(script, { run: { attempt: 2 } })).status).toBe(500)
    expect((await play(script, { run: { attempt: 3 } })).completion.text).toBe('Here I am.')
  })
  test('failing turns before an answered one are used up with it', async () => {
    const messages = [user('Hello'), assistant('Here I am.'), user('Again?')]
    expect((await play(script, { messages, run: { turn: 2 } })).completion.text).toBe('And again.')
  })
  test('where no turn is left it fails every attempt', async () => {
    expect((await refusal([{ fail: { status: 503 } }], { run: { attempt: 3 } })).status).toBe(503)
  })
})

test('an abort ends a delay at once with the reason of the signal', async () => {
  const controller = new AbortController()
  const running = complete(
    scriptedProvider,
    requestWith({ model: { script: [{ delay_ms: 60_000, say: 'late' }] } }),
    controller.signal,
  )
  controller.abort(new Error('cancelled'))
  await expect(running).rejects.toThrow('cancelled')
})
