/** Checks of the project and its data directory: readable, private, undamaged, lock up to date. */
import { access, constants, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isFailure } from '../../base/failure.ts'
import { buildBundle } from '../release/build.ts'
import { checkDrift, lockFileOf } from '../release/lock-file.ts'
import { openOperatorChannel, withOperatorOf } from '../project/server/operator.ts'
import { answersOperator } from '../project/server/running-server.ts'
import { findMissingHandlers } from '../project/missing-handlers.ts'
import { openProject, type Project } from '../project/project.ts'
import { hasRegistry } from '../project/registry.ts'
import { readStoreUrl } from '../project/store-url.ts'
import { userDirectory } from '../project/user-config.ts'
import type { DatabaseHealth } from '../../store/postgres/cluster/health.ts'
import { readFreeBytes, spaceFinding } from './free-space.ts'
import { LOGIN_DIRECTORY } from '../../tools/oauth/login-keeper.ts'
import { MAX_AHEAD_MS } from '../../store/store-clock.ts'
import { RemoteError } from '../../client/remote-error.ts'
import type { CommandContext } from '../shell/command.ts'
import { unhealthy, healthy, unknownProject, type DoctorChecks, type DoctorFinding } from './finding.ts'

export const stateChecks: DoctorChecks = {
  async project(call) {
    try {
      const project = await openProject(call)
      if (project.file === undefined) return healthy(`no svc.config.yaml above ${call.cwd}`)
      return healthy(project.file)
    } catch (error) {
      if (!isFailure(error)) throw error
      return unhealthy(error.message, error.fix)
    }
  },

  async handlers(_, project) {
    if (!project) return unknownProject
    const missing = await findMissingHandlers(project)
    if (missing.size === 0) return healthy('every program that the project file names as a file exists')
    const words = [...missing].map(
      ([id, { file, place }]) => `${id} is run by ${file}, which does not exist (${place})`,
    )
    return unhealthy(words.join('; '), 'Write the file, or correct tools.ID.command in svc.config.yaml.')
  },

  async data(_, project) {
    if (!project) return unknownProject
    const { dataDirectory } = project
    if (await answersOperator(dataDirectory)) return healthy(`${dataDirectory} (a server holds it)`)
    const found = await stat(dataDirectory).catch(() => undefined)
    try {
      await access(found ? dataDirectory : await existingParent(dataDirectory), constants.R_OK | constants.W_OK)
      return healthy(found ? dataDirectory : `${dataDirectory} (not made yet)`)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return unhealthy(`${dataDirectory} cannot be written (${code})`, 'Name another directory with --data.')
    }
  },

  async permissions({ io }, project) {
    if (process.platform === 'win32') return healthy('not checked on Windows')
    if (!project) return unknownProject
    const { dataDirectory } = project
    const secret = [
      ...['', 'data.db', 'server.json'].map((name) => join(dataDirectory, name)),
      ...(await filesIn(join(dataDirectory, LOGIN_DIRECTORY))),
      join(userDirectory(io.env), 'credentials.json'),
    ]
    for (const path of secret) {
      const mode = (await stat(path).catch(() => undefined))?.mode
      if (mode === undefined || (mode & 0o077) === 0) continue
      return unhealthy(`${path} can be read by others (${(mode & 0o777).toString(8)})`, `chmod go= ${path}`)
    }
    return healthy('private')
  },

  async database(_, project) {
    if (!project) return unknownProject
    const file = join(project.dataDirectory, 'data.db')
    if (await answersOperator(project.dataDirectory)) return healthy('in use; checked when its server started')
    try {
      // With SQLite a server refuses what was emptied or lost; a shared store keeps only its log here.
      if (project.store === undefined)
        (await import('../../server/runtime/upkeep/emptied.ts')).refuseLostDatabase(project.dataDirectory)
    } catch (error) {
      if (!isFailure(error)) throw error
      return unhealthy(error.message, error.fix)
    }
    if (!(await stat(file).catch(() => undefined))?.size) return healthy('none yet')
    const { connectSqlite } = await import('../../store/sqlite/database/connect.ts')
    const { isMigrated } = await import('../../store/sqlite/database/migrate.ts')
    try {
      const db = connectSqlite(file, { readonly: true, timeout: 1000 })
      try {
        const tables = db.prepare<[], number>('select count(*) from sqlite_master').pluck().get()
        if (tables === 0) return unhealthy(`${file} is empty`, 'svc restore FILE --force')
        isMigrated(db, file)
        const found = String(db.pragma('integrity_check(1)', { simple: true }))
        return found === 'ok'
          ? healthy('whole')
          : unhealthy(`${file} is damaged: ${found}`, 'svc restore BACKUP --force')
      } finally {
        db.close()
      }
    } catch (error) {
      // A whole database of another svc is not to be replaced: its failure says what to do instead.
      if (isFailure(error) && error.fix !== undefined) return unhealthy(error.message, error.fix)
      return unhealthy(`${file} cannot be read: ${(error as Error).message}`, 'svc restore BACKUP --force')
    }
  },

  async store({ io, cwd }, project) {
    const url = project?.store
    const { url: bucket, region } = project?.config.storage ?? {}
    try {
      // Without a project the address has not been read yet.
      readStoreUrl(io.env['SVC_STORE'])
      const found = project && url !== undefined ? await lookAtShared(url, project, bucket) : undefined
      if (bucket !== undefined)
        await (await import('../../server/runtime/open/check-bucket.ts')).checkBucketAt(bucket, region)
      if (!found) {
        const space = spaceFinding(await readFreeBytes(project?.dataDirectory ?? cwd))
        return space.ok ? healthy(`in the data directory: ${space.say}`) : space
      }
      const { database, problems, summary } = found
      const [first] = problems
      if (!first) return healthy(`${database}: ${summary}`)
      return unhealthy(`${database}: ${problems.map(({ say }) => say).join('; ')}`, first.fix)
    } catch (error) {
      if (!isFailure(error)) throw error
      return unhealthy(error.message, error.fix)
    }
  },

  async server(call, project) {
    if (!project) return unknownProject
    const { dataDirectory } = project
    if (await answersOperator(dataDirectory)) return await lookAtServer(call, project)
    const staleFile = await stat(join(dataDirectory, 'server.json')).catch(() => undefined)
    return healthy(staleFile ? 'down; the last one was killed, the next cleans up after it' : 'down')
  },

  async lock(call, project) {
    if (!project) return unknownProject
    if (project.file === undefined) return healthy('no project')
    const operator = hasRegistry(project)
      ? await openOperatorChannel(project, call.io).catch(() => undefined)
      : undefined
    try {
      const built = await buildBundle({ project, path: project.directory, ...(operator && { operator }) })
      if (!built.compiled) return unhealthy('the documents have errors', 'svc lint')
      if (!(await stat(lockFileOf(built)).catch(() => undefined))) return healthy('no svc.lock')
      checkDrift(built, call.cwd)
      return healthy('svc.lock is what the documents compile to')
    } catch (error) {
      if (isFailure(error, 'no_documents')) return healthy('no documents')
      // Several roots, or none: there is no single bundle to compile.
      if (isFailure(error) && error.code !== 'compile/drift') return healthy(`not compiled as one (${error.message})`)
      if (isFailure(error)) return unhealthy(error.message, error.fix)
      throw error
    } finally {
      await operator?.close()
    }
  },
}

/** What the server that holds the data directory says of itself. */
async function lookAtServer(call: Pick<CommandContext, 'io'>, project: Project): Promise<DoctorFinding> {
  try {
    const { clockAheadMs } = await withOperatorOf(project, call, (operator) => operator.call('GET /status', {}))
    if (Math.abs(clockAheadMs) <= MAX_AHEAD_MS) return healthy('up')
    const seconds = `${(Math.abs(clockAheadMs) / 1000).toFixed(1)} s`
    return unhealthy(
      `its clock is ${seconds} ${clockAheadMs > 0 ? 'ahead of' : 'behind'} that of the store: it takes no work and fires no timers`,
      'Synchronize both clocks, for example with chrony.',
    )
  } catch (error) {
    if (!isFailure(error) && !(error instanceof RemoteError)) throw error
    return unhealthy(`up, and does not say how it is: ${error.message}`, 'svc logs')
  }
}

async function lookAtShared(url: string, { workspace }: Project, bucket: string | undefined): Promise<DatabaseHealth> {
  const { lookAtDatabase } = await import('../../store/postgres/cluster/health.ts')
  return await lookAtDatabase(url, { workspace, bucket })
}

async function existingParent(path: string): Promise<string> {
  for (let at = dirname(path); ; at = dirname(at))
    if ((await stat(at).catch(() => undefined)) || dirname(at) === at) return at
}

const filesIn = (directory: string): Promise<readonly string[]> =>
  readdir(directory).then(
    (names) => names.map((name) => join(directory, name)),
    () => [],
  )
