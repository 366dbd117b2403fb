/** Clients of the API, with a key or over the channel of operators. */
import { SvcClient } from './index.ts'
import { OPERATOR_URL, type OperatorClient } from './operator.ts'

/** Longest `Retry-After` that is waited for: a server that asks for more lacks something for long, such as room on its disk. */
const PATIENCE_MS = 5000

/** The API at an address. */
export const createApiClient = (apiKey: string, baseUrl: string, fetch: typeof globalThis.fetch): SvcClient =>
  new SvcClient({ apiKey, baseUrl, fetch, maxRetryAfterMs: PATIENCE_MS })

/** The API over the operator's channel, which serves the routes of `/v1` to the operator and never redacts. */
export const operatorClient = (operator: OperatorClient, fetch: typeof globalThis.fetch): SvcClient =>
  new SvcClient({
    // The channel identifies the operator.
    apiKey: null,
    baseUrl: OPERATOR_URL,
    maxRetryAfterMs: PATIENCE_MS,
    // Files go to the storage itself, at the address that the server gave.
    fetch: (input, init) =>
      input.startsWith(`${OPERATOR_URL}/`) ? operator.send(new Request(input, init)) : fetch(input, init),
  })
