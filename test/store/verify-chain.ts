/** Checks the chain of a stored session, and its calls. */
import type { SessionId, WorkspaceId } from '../../src/base/ids.ts'
import { createCallVerifier } from '../../src/spec/chain/verify-calls.ts'
import type { SessionOffence } from '../../src/spec/chain/session-link.ts'
import { createSessionVerifier } from '../../src/spec/chain/verify-session.ts'
import type { Store } from '../../src/store/store.ts'

const PAGE = 100

export async function findChainOffence(
  store: Pick<Store, 'chainedSessions' | 'linksOf'>,
  workspaceId: WorkspaceId,
  session: SessionId,
): Promise<SessionOffence | undefined> {
  const given = (await store.chainedSessions({ workspaceId }, 10_000)).find((each) => each.session === session)
  if (!given) throw new Error(`There is no session ${session}.`)
  const [chain, calls] = [createSessionVerifier(given), createCallVerifier()]
  for (let after = 0; ;) {
    const links = await store.linksOf(session, after, PAGE)
    for (const link of links) {
      const offence = chain.check(link) ?? calls.check(link)
      if (offence) return offence
    }
    after = links.at(-1)?.version ?? after
    if (links.length < PAGE) return chain.end()
  }
}
