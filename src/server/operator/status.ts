import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { isoOrNull, toIsoText } from '../../base/clock.ts'
import type { StorageView } from '../../operations/server.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './people/act.ts'

/** Describes the answering process: a server with its addresses, or a command that opened the directory for itself. */
export const getStatus: OperatorAction<'GET /status'> = async ({ services, operator, provider, may, endsAt }) => {
  const { serverState: about, workspace, development = false } = services
  return {
    version: about.version,
    pid: process.pid,
    url: about.url,
    uploadUrl: about.uploadUrl,
    consoleUrl: about.consoleUrl,
    workspace: workspace.name,
    operator: operator.id,
    roles: operator.roles,
    signIn:
      provider && may
        ? {
            provider: services.signIn?.settings.name ?? provider.issuer,
            may,
            groups: provider.groups,
            earlierGroups: provider.earlierGroups ?? null,
            endsAt: isoOrNull(endsAt),
          }
        : null,
    isDevelopment: development,
    storage: await readStorage(services),
    startedAt: toIsoText(about.startedAt),
    clockAheadMs: services.clock.aheadMs(),
  }
}

async function readStorage({ directory, serverState, config }: ServerServices): Promise<StorageView> {
  const isShared = serverState.isStoreShared === true
  const disk = directory === undefined ? undefined : await statfs(directory).catch(() => undefined)
  return {
    store: isShared ? 'postgres' : 'sqlite',
    storeBytes: isShared || directory === undefined ? null : await sizeOfDatabase(directory),
    files: config.storage?.url === undefined ? 'directory' : 'bucket',
    freeBytes: disk ? disk.bavail * disk.bsize : null,
  }
}

async function sizeOfDatabase(directory: string): Promise<number> {
  const sizes = await Promise.all(
    ['data.db', 'data.db-wal'].map((name) =>
      stat(join(directory, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
