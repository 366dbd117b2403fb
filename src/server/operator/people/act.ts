/** The arguments of an operator route. Everyone who reaches the channel is an operator. */
import type { OperatorRoutes, OwnOperatorRoute } from '../../../operations/operations.ts'
import type { MakeAct } from '../../../spec/people/act.ts'
import type { HttpReply } from '../../http/reply.ts'
import type { HttpRequestContext } from '../../http/route.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorIdentity } from './identify.ts'

export interface OperatorRequest<Body = unknown, Query = unknown> extends OperatorIdentity {
  readonly services: ServerServices
  /** As its schema defines; undefined if the route takes none. */
  readonly body: Body
  readonly query: Query
  /** `:id` of the path, lower case. */
  readonly id: string
  readonly call: HttpRequestContext
  /** Makes the record of what this request does; the store writes it with the change. */
  readonly act: MakeAct
}

export type OperatorAction<R extends OwnOperatorRoute> = (
  request: OperatorRequest<
    OperatorRoutes[R] extends { readonly body: infer Body } ? Body : undefined,
    OperatorRoutes[R] extends { readonly query: infer Query } ? Query : unknown
  >,
) => Promise<[OperatorRoutes[R]['answer']] extends [never] ? HttpReply : OperatorRoutes[R]['answer']>
