/** Deletes local state while no server holds it. Source: docs/design/command-line.md#serving */
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../../base/clock.ts'
import { workspaceIdOf } from '../../../base/ids.ts'
import { silentLog } from '../../../base/log.ts'
import { createRedactor } from '../../../base/secret.ts'
import type { NewAct } from '../../../spec/people/act.ts'
import { approverOf } from '../../../spec/people/key.ts'
import type { ProjectConfig } from '../../../spec/project/config.ts'
import { lockDirectory } from '../../../store/sqlite/database/lock.ts'
import { openSqlite } from '../../../store/sqlite/open.ts'
import { localOperator } from '../local-operator.ts'
import { describeAct } from '../describe-act.ts'
import { filesBeside } from './emptied.ts'
import { openStorage } from '../open/storage.ts'

export interface ResetOptions {
  readonly dataDirectory: string
  readonly workspace: string
  readonly config: ProjectConfig
  readonly clock: Clock
}

export interface WorkspaceReset {
  readonly runs: number
  readonly files: number
  /**
   * Deletes runs with their sessions, steps and tasks; versions, triggers, keys and files stay, and so does an act that says it.
   * @param operator who does it
   */
  forgetRuns(operator: string): Promise<void>
  /** Deletes everything in the data directory. */
  forgetAll(): Promise<void>
  close(): Promise<void>
}

/** The lock file stays, because we hold the directory by it. */
const LOCK = 'lock.db'
const PAGE = 500

/** @returns undefined if there was nothing to delete @throws Failure `store_locked` while a server holds the directory */
export async function openReset({
  dataDirectory,
  workspace,
  config,
  clock,
}: ResetOptions): Promise<WorkspaceReset | undefined> {
  if (!existsSync(join(dataDirectory, 'data.db')) && filesBeside(dataDirectory).length === 0) return undefined
  const lock = lockDirectory(dataDirectory)
  try {
    const store = openSqlite(join(dataDirectory, 'data.db'), { clock })
    const workspaceId = workspaceIdOf(workspace)
    const one = { skip: 0, take: 1 }
    return {
      runs: (await store.runs({ workspaceId }, one)).total,
      files: (await store.files(workspaceId, one)).total,
      async forgetRuns(operator) {
        const { total } = await store.sessions({ workspaceId }, one)
        const services = {
          workspace: { id: workspaceId, name: workspace },
          clock: store.clock,
          redactor: createRedactor(),
        }
        const principal = localOperator(operator, workspaceId)
        const act: NewAct = {
          ...describeAct(services, 'sessions.deleted', {
            subject: `all ${total} sessions and the records of their calls`,
          }),
          by: approverOf(principal),
          proof: principal.proof,
          keyId: null,
          channel: 'local',
          address: null,
        }
        await store.recording(act).deleteAllRuns()
      },
      async forgetAll() {
        if (config.storage?.url !== undefined) {
          const at = { directory: dataDirectory, host: '127.0.0.1', port: 0, hosts: [], clock, log: silentLog }
          const storage = await openStorage(config, at)
          for (let skip = 0; ; skip += PAGE) {
            const { items } = await store.files(workspaceId, { skip, take: PAGE })
            for (const { objectKey } of items) await storage.blobs.delete(objectKey)
            if (items.length < PAGE) break
          }
          await storage.close(0)
        }
        await store.close()
        for (const name of await readdir(dataDirectory))
          if (!name.startsWith(LOCK)) await rm(join(dataDirectory, name), { recursive: true, force: true })
      },
      async close() {
        await store.close()
        lock.release()
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}
