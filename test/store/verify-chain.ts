/** Checks the chain of a stored session, its calls, and the rows that its chain covers. */
import type { SessionId } from '../../src/base/ids.ts'
import { createCallVerifier } from '../../src/spec/chain/verify-calls.ts'
import type { SessionOffence } from '../../src/spec/chain/session-link.ts'
import { createRowVerifier } from '../../src/spec/chain/verify-rows.ts'
import { createSessionVerifier } from '../../src/spec/chain/verify-session.ts'
import type { Store } from '../../src/store/store.ts'

const PAGE = 100

export async function findChainOffence(
  store: Pick<Store, 'linksOf' | 'sessionRows'>,
  session: SessionId,
): Promise<SessionOffence | undefined> {
  const given = await store.sessionRows(session)
  if (!given) throw new Error(`There is no session ${session}.`)
  const [chain, calls, rows] = [createSessionVerifier(given.session), createCallVerifier(), createRowVerifier(session)]
  for (let after = 0; ;) {
    const links = await store.linksOf(session, after, PAGE)
    for (const link of links) {
      const offence = chain.check(link) ?? calls.check(link)
      if (offence) return offence
      rows.add(link)
    }
    after = links.at(-1)?.version ?? after
    if (links.length < PAGE) return chain.end() ?? (given.rows ? rows.check(given.rows) : undefined)
  }
}
