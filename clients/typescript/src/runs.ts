import type { SvcClient, StartOptions } from './client.ts'
import { connectionOf, toSegment } from './connection.ts'
import type { Cancelled, JsonValue, StartRunBody, StartRunResponse, ValueReference } from './generated/api.ts'
import type { RequestOptions } from './transport.ts'

/** Cancels a run and its descendants: POST /v1/runs/{runId}/cancel. A run that has ended keeps its status. */
export const cancelRun = (
  client: SvcClient,
  runId: string,
  body: { readonly reason?: string } = {},
  options: RequestOptions = {},
): Promise<Cancelled> => connectionOf(client).call('POST', `/v1/runs/${toSegment(runId)}/cancel`, options, { body })

/**
 * Continues a session whose runs have all ended: starts a new root run that sees the conversation before it, on the deployed
 * version or on `versionId` of the body.
 * @throws SvcError 409 `session_not_ended` while a run of it is not terminal
 */
export const continueSession = (
  client: SvcClient,
  agentId: string,
  sessionId: string,
  body: StartRunBody = {},
  options: StartOptions = {},
): Promise<StartRunResponse> => client.startRun(agentId, { ...body, sessionId }, options)

/** True where an answer holds a reference in place of a large value. */
export const isValueReference = (value: unknown): value is ValueReference =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<ValueReference>).svcValue === 'string' &&
  typeof (value as Partial<ValueReference>).url === 'string'

/** The value that a reference stands for: GET /v1/runs/{runId}/values/{digest}. */
export const getValue = (
  client: SvcClient,
  reference: ValueReference,
  options: RequestOptions = {},
): Promise<JsonValue> => {
  // The key goes along, so the address must be one of the server's own.
  if (!reference.url.startsWith('/v1/runs/')) throw new TypeError(`"${reference.url}" is not the address of a value.`)
  return connectionOf(client).call('GET', reference.url, options)
}
