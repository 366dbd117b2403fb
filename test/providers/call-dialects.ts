/** How servers stream tool calls. A new dialect is one more line. */

export interface DialectCall {
  readonly id: string
  readonly name: string
  /** Its JSON in the pieces in which it is sent; at least one. */
  readonly pieces: readonly string[]
}

/** The events of one or more calls: each is the `tool_calls` of one delta. */
export interface CallDialect {
  readonly name: string
  /** Seen at such servers. */
  readonly seen: string
  readonly write: (calls: readonly DialectCall[]) => readonly (readonly object[])[]
  /** The server sends no ids of its own. */
  readonly hasNoIds?: true
}

const fn = (name: string | undefined, args: unknown) => ({
  function: { ...(name !== undefined && { name }), arguments: args },
})
const each = (write: (call: DialectCall, index: number) => readonly object[]) => (calls: readonly DialectCall[]) =>
  calls.flatMap((call, index) => write(call, index).map((fragment) => [fragment]))

export const callDialects: readonly CallDialect[] = [
  {
    name: 'head with index and id, pieces with the index',
    seen: 'OpenAI',
    write: each(({ id, name, pieces }, index) => [
      { index, id, type: 'function', ...fn(name, '') },
      ...pieces.map((piece) => ({ index, ...fn(undefined, piece) })),
    ]),
  },
  {
    name: 'pieces of several calls in turn',
    seen: 'OpenAI, parallel calls',
    write: (calls) => [
      calls.map(({ id, name }, index) => ({ index, id, ...fn(name, '') })),
      ...Array.from({ length: Math.max(...calls.map(({ pieces }) => pieces.length)) }, (_, at) =>
        calls.flatMap(({ pieces }, index) =>
          pieces[at] === undefined ? [] : [{ index, ...fn(undefined, pieces[at]) }],
        ),
      ),
    ],
  },
  {
    name: 'no index, the id in the head only',
    seen: 'SGLang, NIM',
    write: each(({ id, name, pieces }) => [{ id, ...fn(name, '') }, ...pieces.map((piece) => fn(undefined, piece))]),
  },
  {
    name: 'no index, the id in each piece',
    seen: 'LiteLLM',
    write: each(({ id, name, pieces }) => [
      { id, ...fn(name, '') },
      ...pieces.map((piece) => ({ id, ...fn(undefined, piece) })),
    ]),
  },
  {
    name: 'index 0 for each call, with an id of its own',
    seen: "Gemini's compatible endpoint",
    write: each(({ id, name, pieces }) => [
      { index: 0, id, ...fn(name, '') },
      ...pieces.map((piece) => ({ index: 0, ...fn(undefined, piece) })),
    ]),
  },
  {
    name: 'heads with the index of the first call, pieces with their own',
    seen: 'vLLM',
    write: each(({ id, name, pieces }, index) => [
      { index: 0, id, ...fn(name, '') },
      ...pieces.map((piece) => ({ index, ...fn(undefined, piece) })),
    ]),
  },
  {
    name: 'id and name in each piece',
    seen: 'DashScope',
    write: each(({ id, name, pieces }, index) => pieces.map((piece) => ({ index, id, ...fn(name, piece) }))),
  },
  {
    name: 'the name in each piece, index 0, no ids',
    seen: 'older llama.cpp servers',
    write: each(({ name, pieces }) => pieces.map((piece) => ({ index: 0, ...fn(name, piece) }))),
    hasNoIds: true,
  },
  {
    name: 'the name in pieces before the arguments',
    seen: 'DeepSeek proxies',
    write: each(({ id, name, pieces }, index) => [
      ...Array.from(name).map((letter, at) => ({ index, ...(at === 0 && { id }), ...fn(letter, '') })),
      ...pieces.map((piece) => ({ index, ...fn(undefined, piece) })),
    ]),
  },
  {
    name: 'an empty name first',
    seen: 'Azure proxies',
    write: each(({ id, name, pieces }, index) => [
      { index, id, ...fn('', '') },
      { index, id, ...fn(name, '') },
      ...pieces.map((piece) => ({ index, id: '', ...fn('', piece) })),
    ]),
  },
  {
    name: 'nulls in place of what is absent',
    seen: 'Mistral, Groq',
    write: each(({ id, name, pieces }, index) => [
      { index, id, function: { name, arguments: null } },
      ...pieces.map((piece) => ({ index, id: null, function: { name: null, arguments: piece } })),
    ]),
  },
  {
    name: 'another id in each piece',
    seen: 'vLLM with the hermes parser',
    write: each(({ id, name, pieces }, index) => [
      { index, id, ...fn(name, '') },
      ...pieces.map((piece, at) => ({ index, id: `${id}-${at}`, ...fn(undefined, piece) })),
    ]),
  },
  {
    name: 'whole calls without index and id',
    seen: 'Ollama',
    write: each(({ name, pieces }) => [fn(name, pieces.join(''))]),
    hasNoIds: true,
  },
  {
    name: 'all calls whole in one event, without index and id',
    seen: 'Ollama, several calls',
    write: (calls) => [calls.map(({ name, pieces }) => fn(name, pieces.join('')))],
    hasNoIds: true,
  },
  {
    name: 'arguments as an object',
    seen: 'bridges to Ollama',
    write: each(({ id, name, pieces }, index) => [{ index, id, ...fn(name, JSON.parse(pieces.join(''))) }]),
  },
  {
    name: 'the whole arguments once more at the end',
    seen: 'vLLM at the end of a stream',
    write: each(({ id, name, pieces }, index) => [
      { index, id, ...fn(name, '') },
      ...pieces.map((piece) => ({ index, ...fn(undefined, piece) })),
      { index, ...fn(undefined, pieces.join('')) },
    ]),
  },
  {
    name: 'an empty object in the head',
    seen: 'LiteLLM before Claude',
    write: each(({ id, name, pieces }, index) => [
      { index, id, ...fn(name, '{}') },
      ...pieces.map((piece) => ({ index, ...fn(undefined, piece) })),
    ]),
  },
  {
    name: 'the index as text, the prefix of the training format',
    seen: 'Kimi behind proxies',
    write: each(({ id, name, pieces }, index) => [
      { index: `${index}`, id, ...fn(`functions.${name}`, '') },
      ...pieces.map((piece) => ({ index: `${index}`, ...fn(undefined, piece) })),
    ]),
  },
]
