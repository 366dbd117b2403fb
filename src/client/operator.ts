/** Requests to the operator application, whatever leads to it. Source: docs/design/command-line.md#planes */
import type { OperatorAnswer, OperatorRoutes } from '../operations/operations.ts'
import { addressOf, type RouteArguments } from '../operations/request.ts'
import { remoteError } from './remote-error.ts'

export type SendRequest = (request: Request) => Promise<Response>

export interface OperatorClient {
  call<R extends keyof OperatorRoutes>(route: R, given: RouteArguments<R>): Promise<OperatorAnswer<R>>
  /** Sends a request for any path of the operator application and returns the response as it is. */
  readonly send: SendRequest
  /** False where no server runs and this process answers: what it stores continues when one starts. */
  readonly isServed: boolean
  close(): Promise<void>
}

/** A placeholder: the host is never resolved, since a socket or this process answers. */
export const OPERATOR_URL = 'http://operator.svc'

export const createOperator = (
  send: SendRequest,
  {
    isServed = true,
    close = async () => undefined,
  }: { readonly isServed?: boolean; readonly close?: () => Promise<void> } = {},
): OperatorClient => ({
  send,
  isServed,
  close,
  async call<R extends keyof OperatorRoutes>(route: R, given: RouteArguments<R>) {
    const { method, path } = addressOf(route, given)
    const body =
      given.body === undefined
        ? {}
        : { body: JSON.stringify(given.body), headers: { 'content-type': 'application/json' } }
    const response = await send(new Request(new URL(path, OPERATOR_URL), { method, ...body }))
    const text = await response.text()
    if (!response.ok) throw remoteError(response.status, `${method} ${path.replace(/\?.*/, '')}`, text)
    return JSON.parse(text) as OperatorAnswer<R>
  },
})

/** Sends a request for a route of `/v1` over the operator's channel. */
export const sendToOperator = (
  operator: OperatorClient,
  method: string,
  path: string,
  body?: string,
): Promise<Response> =>
  operator.send(
    new Request(new URL(path, OPERATOR_URL), {
      method,
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    }),
  )
