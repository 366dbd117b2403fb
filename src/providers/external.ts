/** The model of an agent that stands for a client. Its completions are the calls of the client, so it is never asked. */
import { ProviderError, type ModelProvider } from './provider.ts'

export const externalProvider: ModelProvider = {
  // oxlint-disable-next-line require-yield -- it has nothing to say
  async *complete() {
    throw new ProviderError('The model is external: its completions are the calls of a client.', { retryable: false })
  },
}
