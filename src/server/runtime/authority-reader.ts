/**
 * What compiled versions may do, for operators. Reading that takes the compiler, which the server does not import: whoever
 * opens the server gives it one.
 */
import type { AuthorityRow, ChangeView } from '../../spec/operator/publication.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'

/** A published version; undefined = it is missing. */
export type LoadSnapshot = (id: string, version: string) => Promise<AgentSnapshot | undefined>

export interface AuthorityReader {
  matrix(snapshot: AgentSnapshot): Promise<readonly AuthorityRow[]>
  /** What `to` does that `from` did not, each with the agents that it pins. @param loadTo where those of `to` are others */
  difference(
    from: AgentSnapshot,
    to: AgentSnapshot,
    load: LoadSnapshot,
    loadTo?: LoadSnapshot,
  ): Promise<{ readonly breaking: boolean; readonly widens: boolean; readonly changes: readonly ChangeView[] }>
}
