/** The credentials that keep a caller's stream open: revoking one ends the stream. */
import type { ReaderGrants } from '../runtime/readers.ts'
import { consoleReader, EVERYTHING, LOCAL_READER, rightsOf } from '../runtime/watch-readers.ts'
import type { AuthenticatedCaller, OperatorProof } from './auth.ts'

export const grantsOfCaller = (caller: AuthenticatedCaller): ReaderGrants =>
  caller.trigger ? { [caller.principal.id]: rightsOf(caller.trigger) } : grantsOfOperator(caller)

/** A session of the console ends with the credential that signed in, so its streams belong to both. */
export function grantsOfOperator({ keyId, consoleSession, commandSession }: OperatorProof): ReaderGrants {
  const session = consoleSession ?? commandSession
  const owners = [keyId, session && consoleReader(session)].filter((each) => each !== undefined)
  return Object.fromEntries((owners.length > 0 ? owners : [LOCAL_READER]).map((owner) => [owner, EVERYTHING]))
}
