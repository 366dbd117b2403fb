/** What a route of the operator application is given. Who reaches the channel is an operator. */
import type { OperatorRoutes } from '../../spec/operator.ts'
import type { Principal } from '../../spec/key.ts'
import type { Reply } from '../reply.ts'
import type { Call } from '../route.ts'
import type { Services } from '../services.ts'

export type OperatorPrincipal = Extract<Principal, { type: 'operator' }>

export interface Asked {
  readonly services: Services
  readonly operator: OperatorPrincipal
  /** True where the identity was proved with a credential, and is not the channel's own. */
  readonly proved: boolean
  readonly body: unknown
  readonly query: URLSearchParams
  /** `:id` of the path, lower case. */
  readonly id: string
  readonly call: Call
}

export type Act<R extends keyof OperatorRoutes> = (
  asked: Asked,
) => Promise<[OperatorRoutes[R]['answer']] extends [never] ? Reply : OperatorRoutes[R]['answer']>
