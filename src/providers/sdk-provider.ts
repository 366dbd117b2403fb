/** The part that providers built on a vendor's SDK share: one streamed completion, with the SDK's errors converted. */
import type { FetchFunction, GuardedRequestInit } from '../base/net/transport.ts'
import type { CompletionRequest, ModelCompletion, ModelProvider } from './provider.ts'
import { toProviderError, unreadableAnswerError, type SdkErrorParts } from './sdk-error.ts'

export interface SdkParts extends SdkErrorParts {
  /** The vendor's own address when absent. */
  readonly baseUrl?: string
  /** Sends the requests, through the egress checks. */
  readonly fetch: FetchFunction
}

/** Assembles a completion from the events of one stream. */
export interface StreamCollector<Event> {
  /** Returns the text that the event adds, and the text that is not displayed. */
  add(event: Event): { readonly text: string; readonly hidden: string }
  /** @throws ProviderError when the answer is not complete */
  finish(): ModelCompletion
}

/** Options of one request for an SDK that hands `fetchOptions` to our `fetch`. */
export const guardedBy = ({ mayLeave }: CompletionRequest) =>
  mayLeave && { fetchOptions: { mayLeave } satisfies GuardedRequestInit as object }

interface SdkAdapter<Client, Event> {
  /** Loads the SDK, once, with the first completion. */
  readonly load: () => Promise<Client>
  readonly open: (client: Client, request: CompletionRequest, signal: AbortSignal) => Promise<AsyncIterable<Event>>
  readonly collect: (request: CompletionRequest) => StreamCollector<Event>
}

export function createSdkProvider<Client, Event>(
  parts: SdkParts,
  { load, open, collect }: SdkAdapter<Client, Event>,
): ModelProvider {
  let loading: Promise<Client> | undefined
  /** Reads a part of the answer. A part with an unexpected form is an error of the vendor, not a bug of ours. */
  const read = <T>(action: () => T): T => {
    try {
      return action()
    } catch (error) {
      throw error instanceof TypeError ? unreadableAnswerError(parts.remedies, error) : error
    }
  }
  return {
    async *complete(request, signal) {
      signal.throwIfAborted()
      const client = await (loading ??= load())
      const collector = collect(request)
      let isEmpty = true
      try {
        for await (const event of await open(client, request, signal)) {
          isEmpty = false
          const { text, hidden } = read(() => collector.add(event))
          if (text !== '') yield { type: 'text', text }
          if (hidden !== '') yield { type: 'hidden', text: hidden }
        }
      } catch (error) {
        signal.throwIfAborted()
        throw toProviderError(error, parts)
      }
      // The SDKs end a stream without an error when it is aborted and when the connection is cut.
      signal.throwIfAborted()
      if (isEmpty) throw unreadableAnswerError(parts.remedies)
      yield { type: 'end', completion: read(() => collector.finish()) }
    },
  }
}
