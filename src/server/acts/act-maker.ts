/** Makes the records of what the person of a request does. Source: docs/design/audit.md#acts */
import type { ActChannel, MakeAct } from '../../spec/people/act.ts'
import { approverOf } from '../../spec/people/key.ts'
import type { OperatorPrincipal, OperatorProof } from '../auth/auth.ts'
import { clientAddress } from '../http/ip.ts'
import type { HttpRequestContext } from '../http/route.ts'
import { describeAct } from '../runtime/describe-act.ts'
import type { ServerServices } from '../runtime/services.ts'

/** What is known of a person who acts; without a principal nobody is. */
export interface ActingOperator extends OperatorProof {
  readonly operator?: OperatorPrincipal
}

/** @param listener the channel of a request that belongs to no session of the console */
export function createActMaker(
  services: ServerServices,
  call: HttpRequestContext,
  { operator, keyId, consoleSession }: ActingOperator,
  listener: Extract<ActChannel, 'local' | 'api'>,
): MakeAct {
  const forwarded = call.request.headers.get('x-forwarded-for')
  const address = clientAddress(call.peer, forwarded, services.config.network?.proxies ?? [])
  const channel = consoleSession === undefined ? listener : 'console'
  return (kind, about) => ({
    ...describeAct(services, kind, about),
    by: operator ? approverOf(operator) : 'unknown:',
    proof: operator?.proof ?? 'none',
    keyId: keyId ?? null,
    channel,
    address: channel === 'local' ? null : (address ?? null),
  })
}
