/** The log of acts, and the writes that record one. Source: docs/design/audit.md#acts */
import type { Instant } from '../base/clock.ts'
import type { RunId, SessionId, WorkspaceId } from '../base/ids.ts'
import type { ActKind, ActRecord, NewAct, StoredAct } from '../spec/people/act.ts'
import type { SetupRow } from '../spec/chain/setup-row.ts'
import type { SetupName } from '../spec/people/setup-name.ts'
import type { CatalogStore } from './catalog-store.ts'
import type { NoticeStore } from './notice-store.ts'
import type { PageRange } from './queries.ts'
import type { SessionStore } from './session-store.ts'

export interface ActFilter {
  readonly workspaceId: WorkspaceId
  readonly kinds?: readonly ActKind[]
  /** As `NewAct.by`. */
  readonly by?: string
  readonly since?: Instant
  readonly until?: Instant
  readonly sessionId?: SessionId
  readonly runId?: RunId
  /** Only acts after this number. */
  readonly after?: number
}

/** Writes that an act may be recorded with. */
export type RecordedWrites = Pick<
  CatalogStore,
  | 'publish'
  | 'deploy'
  | 'installTrust'
  | 'setYanked'
  | 'setDocumentYanked'
  | 'createTrigger'
  | 'updateTrigger'
  | 'deleteTrigger'
  | 'createKey'
  | 'revokeKey'
  | 'createOperatorKey'
  | 'revokeOperatorKey'
  | 'createPasskey'
  | 'removePasskey'
  | 'createConsoleSession'
  | 'endConsoleSession'
  | 'endConsoleSessionsOf'
  | 'finalizeFile'
> &
  Pick<NoticeStore, 'addNotices' | 'retryNotice'> &
  Pick<
    SessionStore,
    | 'setStandingRevoked'
    | 'releaseEffect'
    | 'recordKnownEffects'
    | 'setPaused'
    | 'labelSession'
    | 'eraseSession'
    | 'deleteEndedSessions'
    | 'deleteKeptCalls'
    | 'deleteAllRuns'
    | 'releaseRestored'
  >

/** An act, or what makes it of the answer of the write; null records nothing. */
export type DescribeAct = NewAct | ((answer: unknown) => NewAct | null)

export interface ActStore {
  /**
   * The writes of this store, each of which records an act in its own transaction. A write that fails, or answers `false` since
   * nothing changed, records none.
   */
  recording(act: DescribeAct): RecordedWrites
  /** Records an act for which nothing else is written here. */
  addAct(act: NewAct): Promise<void>
  /** Newest first. */
  acts(filter: ActFilter, page: PageRange): Promise<{ readonly items: readonly StoredAct[]; readonly total: number }>
  /** As they are stored, oldest first, after the number `after`; at most `limit`. */
  actsInOrder(workspaceId: WorkspaceId, after: number, limit: number): Promise<readonly ActRecord[]>
  /** What operators set up, as it is stored, in order; at most `limit` rows after the one of this name. */
  setupRows(workspaceId: WorkspaceId, after: SetupName | undefined, limit: number): Promise<readonly SetupRow[]>
}

/** The act of a write that has answered. */
export function actOfAnswer(act: DescribeAct, answer: unknown): NewAct | null {
  if (answer === false) return null
  return typeof act === 'function' ? act(answer) : act
}
