import type { RunId } from '../../src/base/ids.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { ModelCompletion, CompletionRequest, ModelMessage, ModelProvider } from '../../src/providers/provider.ts'
import type { SnapshotModel } from '../../src/spec/snapshot.ts'

export const clockAt = (now: number): Clock => ({ now: () => now, monotonic: () => now })

export const user = (text: string): ModelMessage => ({ role: 'user', parts: [{ type: 'text', text }] })
export const assistant = (
  text: string,
  ...calls: { id: string; name: string; arguments?: Record<string, never> }[]
): ModelMessage => ({
  role: 'assistant',
  text,
  calls: calls.map((call) => ({ arguments: {}, ...call })),
})
export const answered = (name: string, content: string, callId = `call_${name}`): ModelMessage => ({
  role: 'tool',
  callId,
  name,
  content,
  isError: false,
})

type Given = Partial<Omit<CompletionRequest, 'run' | 'model'>> & {
  readonly model?: Partial<SnapshotModel>
  readonly run?: Partial<CompletionRequest['run']>
}

export const requestWith = ({ model, run, ...rest }: Given = {}): CompletionRequest => ({
  model: { provider: 'scripted', name: 'm', ...model },
  system: 'Be brief.',
  messages: [user('Hello')],
  tools: [],
  ...rest,
  run: { id: '00000000-0000-7000-8000-000000000001' as RunId, input: {}, turn: 1, results: [], ...run },
})

/** What the model writes and nobody is shown. */
export async function hiddenOf(provider: ModelProvider, request: CompletionRequest): Promise<string> {
  let hidden = ''
  for await (const part of provider.complete(request, new AbortController().signal))
    if (part.type === 'hidden') hidden += part.text
  return hidden
}

/** All text parts, and the completion at the end. */
export async function complete(
  provider: ModelProvider,
  request: CompletionRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<{ readonly texts: readonly string[]; readonly completion: ModelCompletion }> {
  const texts: string[] = []
  let completion: ModelCompletion | undefined
  for await (const part of provider.complete(request, signal)) {
    if (part.type === 'text') texts.push(part.text)
    else if (part.type === 'end') completion = part.completion
  }
  if (!completion) throw new Error('The stream ended without a completion.')
  return { texts, completion }
}
