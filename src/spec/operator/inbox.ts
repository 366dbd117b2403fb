/** Answers of the operator application about waiting tasks, and its live hints. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { TaskContent } from '../api.ts'
import type { TaskPeople } from '../task.ts'

/** Changes since the last hint: these sessions, and whether anything outside of sessions changed. */
export interface LiveHint {
  readonly sessions: readonly string[] | 'any'
  readonly workspace: boolean
}

export interface InboxItem {
  readonly userTaskId: string
  readonly kind: string
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly tool?: string
  readonly args?: JsonValue
  readonly argsDigest?: string
  readonly why: string
  readonly reason: string | null
  readonly options?: readonly { readonly id: string; readonly label: string }[]
  readonly approvals: { readonly have: number; readonly need: number; readonly by: readonly string[] }
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly onTimeout: string | null
  readonly apiCompletable: boolean
  readonly status: string
  /** As in `UserTaskReq.content`, for the card; absent for `reply`. */
  readonly task?: TaskContent
  /** For the card; absent for `reply`. */
  readonly people?: TaskPeople
}

/** Call and result of the probe tool that the author named. */
export interface ProbeView {
  readonly userTaskId: string
  readonly name: string
  readonly arguments: JsonObject
  readonly result: JsonValue
  readonly isError: boolean
}
