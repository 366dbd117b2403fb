import type { SvcClient } from './client.ts'
import { connectionOf, toSegment } from './connection.ts'
import type { CompletionAccepted, JsonValue, MessageAccepted } from './generated/api.ts'
import type { RequestOptions } from './transport.ts'

/**
 * Sends a signal to a run that waits for it with `svc.wait_event`: POST /v1/runs/{runId}/signals/{name}. A signal that nobody waits
 * for, or that does not match, is accepted with `error` and changes nothing.
 */
export const sendSignal = (
  client: SvcClient,
  runId: string,
  name: string,
  data: JsonValue = null,
  options: RequestOptions = {},
): Promise<MessageAccepted> =>
  connectionOf(client).call('POST', `/v1/runs/${toSegment(runId)}/signals/${toSegment(name)}`, options, {
    body: { data },
  })

/**
 * Ends the call to which a token was given: POST /v1/completions/{token}. The same report may be sent again.
 * @throws SvcError 404 `completion_not_found`, 409 `completion_used` where another report has ended the call
 */
export const completeCall = (
  client: SvcClient,
  token: string,
  report: { readonly result: JsonValue } | { readonly error: JsonValue },
  options: RequestOptions = {},
): Promise<CompletionAccepted> =>
  connectionOf(client).call('POST', `/v1/completions/${toSegment(token)}`, options, { body: report })
