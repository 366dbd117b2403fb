/**
 * Reads the authority of compiled versions, for operators. This needs the compiler, which the server does not import: the
 * caller of `openServer` provides it.
 */
import type { AuthorityRow, ChangeView } from '../../spec/operator/publication.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'

/** A published version; undefined = it is missing. */
export type LoadSnapshot = (id: string, version: string) => Promise<AgentSnapshot | undefined>

export interface AuthorityReader {
  matrix(snapshot: AgentSnapshot): Promise<readonly AuthorityRow[]>
  /** The changes from `from` to `to`, each with the agents that it pins. @param loadTo loads those of `to`; `load` by default */
  difference(
    from: AgentSnapshot,
    to: AgentSnapshot,
    load: LoadSnapshot,
    loadTo?: LoadSnapshot,
  ): Promise<{ readonly breaking: boolean; readonly widens: boolean; readonly changes: readonly ChangeView[] }>
  /** The changes after which a call may be decided more loosely; none if every call is proven equal or tighter. */
  looserCalls(from: AgentSnapshot, to: AgentSnapshot, load: LoadSnapshot): Promise<readonly ChangeView[]>
}
