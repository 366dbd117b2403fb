/** What a route of the operator application is given. Who reaches the channel is an operator. */
import type { OperatorRoutes } from '../../spec/operator.ts'
import type { Principal } from '../../spec/key.ts'
import type { HttpReply } from '../http/reply.ts'
import type { HttpRequestContext } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'

export type OperatorPrincipal = Extract<Principal, { type: 'operator' }>

export interface OperatorRequest {
  readonly services: ServerServices
  readonly operator: OperatorPrincipal
  /** True where the identity was proved with a credential, and is not the channel's own. */
  readonly proved: boolean
  readonly body: unknown
  readonly query: URLSearchParams
  /** `:id` of the path, lower case. */
  readonly id: string
  readonly call: HttpRequestContext
}

export type OperatorAction<R extends keyof OperatorRoutes> = (
  asked: OperatorRequest,
) => Promise<[OperatorRoutes[R]['answer']] extends [never] ? HttpReply : OperatorRoutes[R]['answer']>
