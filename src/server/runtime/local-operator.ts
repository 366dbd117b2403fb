/** Whoever acts on the local channel without a credential. */
import type { WorkspaceId } from '../../base/ids.ts'
import type { Principal } from '../../spec/people/key.ts'

/** Under the name of the machine's user: nothing proves it, and they have no roles. */
export const localOperator = (id: string, workspaceId: WorkspaceId): Extract<Principal, { type: 'operator' }> => ({
  type: 'operator',
  id,
  proof: 'local',
  workspaceId,
  roles: [],
})

export const nameOfLocalOperator = ({
  SVC_OPERATOR,
  USER,
  USERNAME,
}: Readonly<Record<string, string | undefined>>): string => SVC_OPERATOR ?? USER ?? USERNAME ?? 'operator'
