/** An approval that a passkey signed: it counts for what was shown, and once. Source: docs/design/approvals.md#passkeys */
import { fail, Failure } from '../../../base/failure.ts'
import type { MessageBody } from '../../../spec/api.ts'
import type { DecisionOrigin } from '../../../spec/people/decision-proof.ts'
import { isProvedPerson } from '../../../spec/people/key.ts'
import type { GivenAssertion } from '../../../spec/people/passkey.ts'
import { approvalChallengeText } from '../../../view/passkey-challenge.ts'
import type { OperatorPrincipal } from '../../auth/auth.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { viewDigestOf } from '../tasks.ts'
import { naming, provePasskey, useNonce } from './passkeys.ts'

/**
 * What the answer proves with the passkey. The card's digest is computed here from the task, never taken from the page: a page that
 * showed something else has let its person sign something else.
 * @returns the failure for which it proves nothing, and the message is refused
 */
export async function provedOrigin(
  services: ServerServices,
  by: OperatorPrincipal,
  { channel }: DecisionOrigin,
  message: MessageBody,
  given: GivenAssertion,
): Promise<DecisionOrigin | Failure> {
  const { userTaskId } = message
  const view = userTaskId === undefined ? undefined : await viewDigestOf(services, by, userTaskId)
  if (userTaskId === undefined || view === undefined) return fail('task_not_found')
  if (!isProvedPerson(by)) return fail('passkey_refused', { why: 'its person has not signed in with a credential' })
  try {
    await useNonce(services, by, 'approve', userTaskId, given.nonce)
    const passkey = await naming(() =>
      provePasskey(services, by, given, approvalChallengeText(view, message, given.nonce)),
    )
    return { channel, proof: passkey.isDeviceBound ? 'hardware' : 'passkey', assertion: given }
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}
