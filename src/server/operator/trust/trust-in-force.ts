/** The trust document of the workspace, and the failures of checks against it. Source: docs/design/trust.md#order-of-checks */
import type { Digest } from '../../../base/digest.ts'
import { fail, type Failure } from '../../../base/failure.ts'
import type { InstalledTrust } from '../../../spec/trust/attestation.ts'
import type { TrustDocument } from '../../../spec/trust/trust-document.ts'
import { TrustProblem } from '../../../spec/trust/trust-problem.ts'
import { openTrust } from '../../../spec/trust/verify-trust.ts'
import type { ServerServices } from '../../runtime/services.ts'

type SignedSubject = 'publication' | 'deployment' | 'trust document'

/**
 * Undefined where nobody installed one: then signatures are kept and ask for nothing.
 * @throws Failure `trust_refused` where the stored document is not the one that its roots signed
 */
export async function readTrustInForce({
  store,
  workspace,
}: Pick<ServerServices, 'store' | 'workspace'>): Promise<TrustDocument | undefined> {
  const installed = await store.trust(workspace.id)
  return installed && (await refusing('trust document', async () => openInstalled(installed)))
}

/** Read before what is judged by it: what is stored names it, so that it is not stored under another one. */
export const readTrustDigest = async ({
  store,
  workspace,
}: Pick<ServerServices, 'store' | 'workspace'>): Promise<Digest | null> =>
  (await store.trust(workspace.id))?.digest ?? null

export function openInstalled({ envelope, digest, installedAt }: InstalledTrust): TrustDocument {
  const trust = openTrust(envelope, undefined, installedAt)
  if (trust.digest !== digest) throw new TrustProblem('digest', 'the stored one is not the one that was installed')
  return trust
}

/** Names the step that refused. @throws Failure `trust_refused` in place of a TrustProblem */
export async function refusing<T>(what: SignedSubject, check: () => Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof TrustProblem) throw trustRefusal(what, error)
    throw error
  }
}

const trustRefusal = (what: SignedSubject, { step, message: why }: TrustProblem): Failure =>
  fail('trust_refused', { what, step, why })
