/** Opens the data directory, the log and the database of a server. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fail, type Failure } from '../../../base/failure.ts'
import type { Clock } from '../../../base/clock.ts'
import { withRedactedValues, type Log } from '../../../base/log.ts'
import type { Redactor } from '../../../base/secret.ts'
import { lockDirectory } from '../../../store/sqlite/database/lock.ts'
import { ballastOf } from '../../../store/sqlite/database/ballast.ts'
import { refuseMoved } from '../../../store/sqlite/database/moved.ts'
import { openSqlite } from '../../../store/sqlite/open.ts'
import { openSqliteReadOnly } from '../../../store/sqlite/read-only.ts'
import type { Store } from '../../../store/store.ts'
import { logToAll, openLogFile } from '../../log/log-file.ts'
import { withRunLog } from '../../log/run-log.ts'
import { withRunMetrics } from '../../metrics/run-metrics.ts'
import { withIntactVersions } from './intact-versions.ts'
import { withNotices } from '../../notify/with-notices.ts'
import { withTraceMarks } from '../../telemetry/export-traces.ts'
import type { OpenTelemetry } from '../../telemetry/open-telemetry.ts'
import { beginTelemetry } from './begin-telemetry.ts'
import type { CloseStack } from './close-stack.ts'
import { refuseLostDatabase, refuseLostWhileFree } from '../upkeep/emptied.ts'
import type { RuntimeOptions } from '../options.ts'

const MIB = 1024 * 1024

/**
 * Reserved on disk so that outcomes of work in flight can still be stored when the disk is full.
 * Source: docs/design/runs-and-recovery.md#storage
 */
const BALLAST_BYTES = 16 * MIB

/** Free space that a server needs to accept work: the ballast, the database and its log. */
const NEEDED_BYTES = BALLAST_BYTES + 4 * MIB

/**
 * The data directory, locked unless `readOnly`; in memory a temporary directory, which `closing` removes.
 * @throws Failure `store_locked`, `store_unreadable`
 */
export async function openDataDirectory(
  { dataDirectory, store, readOnly = false }: RuntimeOptions,
  closing: CloseStack,
): Promise<string> {
  if (dataDirectory === undefined) {
    const directory = await mkdtemp(join(tmpdir(), 'svc-'))
    closing.push(() => rm(directory, { recursive: true, force: true }))
    return directory
  }
  if (!readOnly) {
    const lock = lockDirectory(dataDirectory)
    closing.push(() => lock.release())
    if (store === undefined) refuseMoved(dataDirectory)
    if (store === undefined) refuseLostDatabase(dataDirectory)
  } else if (store === undefined) refuseLostWhileFree(dataDirectory)
  return dataDirectory
}

interface StoreParts {
  /** The clock of this process. */
  readonly clock: Clock
  readonly redactor: Redactor
  readonly closing: CloseStack
  /** False: no listener is open, so neither a log file nor ballast is kept. */
  readonly serving: boolean
  /** Is told that the database cannot be read any more, at most once. */
  readonly damaged: (failure: Failure) => void
  /** Called after a write that tells channels something. */
  readonly noticesAdded: () => void
}

/**
 * The log and the store. A server with a data directory also writes its log and what happens to runs into a log file there.
 * @throws Failure `store_unreadable`, `data_directory_full`
 */
export async function openLogAndStore(
  options: RuntimeOptions,
  { clock, redactor, closing, serving, damaged, noticesAdded }: StoreParts,
): Promise<{ readonly log: Log; readonly store: Store; readonly telemetry: OpenTelemetry | undefined }> {
  const { dataDirectory } = options
  const processLog = options.log
    ? withRedactedValues(options.log, redactor)
    : (await import('../../log/log.ts')).createLog(redactor, 'info', options.logTo)
  const logFile =
    dataDirectory !== undefined && serving ? openLogFile({ directory: dataDirectory, redactor, clock }) : undefined
  if (logFile) closing.push(() => logFile.close())
  const ownLog = logFile ? logToAll(processLog, logFile) : processLog

  const opened = await openDatabaseOf(options, { clock, serving, log: ownLog, damaged: tellOnce(ownLog, damaged) })
  closing.push(() => opened.close())
  const telemetry = serving ? await beginTelemetry(options, { log: ownLog, redactor, store: opened }) : undefined
  if (telemetry) closing.push(() => telemetry.close())
  const log = telemetry?.log ? logToAll(ownLog, telemetry.log) : ownLog
  const intact = withIntactVersions(opened, options.workspace)
  const logged = logFile ? withRunLog(intact, logFile) : intact
  const told = telemetry?.log ? withRunLog(logged, telemetry.log, { withTraces: true }) : logged
  const isCounted = options.isScraped === true || telemetry?.hasMetrics === true
  const counted = options.metrics && isCounted ? withRunMetrics(told, options.metrics, () => clock.monotonic()) : told
  const traced = telemetry?.hasTraces ? withTraceMarks(counted) : counted
  const { notify } = options.config
  const store = notify ? withNotices(traced, notify, noticesAdded) : traced
  return { log, store, telemetry }
}

/** Whoever asks for what cannot be read gets an error; the log says why once. */
function tellOnce(log: Log, damaged: (failure: Failure) => void): (failure: Failure) => void {
  let isTold = false
  return (failure) => {
    if (isTold) return
    isTold = true
    log.write('error', 'the database cannot be read: this server ends, since it would decide on what it cannot read', {
      detail: failure.message,
    })
    damaged(failure)
  }
}

/** @throws Failure of the store */
async function openDatabaseOf(
  { dataDirectory, store, readOnly = false, workspace, config }: RuntimeOptions,
  { clock, serving, log, damaged }: Pick<StoreParts, 'clock' | 'serving' | 'damaged'> & { readonly log: Log },
): Promise<Store> {
  if (store !== undefined) {
    const { openPostgres } = await import('../../../store/postgres/open.ts')
    // A command that is not a server may not know the bucket.
    const bucket = serving ? config.storage?.url : undefined
    const cluster = { workspace, ...(bucket !== undefined && { bucket }) }
    return await openPostgres({ url: store, processClock: clock, cluster, ...(serving && { log }) })
  }
  const file = dataDirectory === undefined ? ':memory:' : join(dataDirectory, 'data.db')
  const ballastBytes = dataDirectory !== undefined && serving ? BALLAST_BYTES : 0
  if (dataDirectory !== undefined && serving) await checkFreeSpace(dataDirectory, file, log)
  return readOnly
    ? await openSqliteReadOnly(file, clock)
    : openSqlite(file, { clock, ballastBytes, ...(serving && { log, damaged }) })
}

/**
 * Refuses to begin on a disk without room. With an existing database the server starts nevertheless: it answers reads,
 * stores outcomes of calls in flight, and accepts work once there is room.
 * @throws Failure `data_directory_full`
 */
async function checkFreeSpace(directory: string, database: string, log: Log): Promise<void> {
  const { bavail, bsize } = await statfs(directory)
  if (bavail * bsize >= NEEDED_BYTES) return
  const free = Math.floor((bavail * bsize) / MIB)
  if (!existsSync(database))
    throw fail('data_directory_full', { directory, why: `${free} MiB are free, a server needs ${NEEDED_BYTES / MIB}` })
  if (existsSync(ballastOf(directory))) return
  log.write('warn', 'the disk is full: no work is accepted until there is room', {
    directory,
    freeMib: free,
    neededMib: NEEDED_BYTES / MIB,
  })
}
