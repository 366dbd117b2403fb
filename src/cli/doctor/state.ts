/** What a project and its data directory must be: readable, private, undamaged, and locked to what the documents say. */
import { access, constants, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isFailure } from '../../base/failure.ts'
import { build } from '../build.ts'
import { checkDrift, lockFileOf } from '../lock-file.ts'
import { openOperator } from '../operator.ts'
import { answersOperator } from '../operator-socket.ts'
import { openProject } from '../project.ts'
import { hasRegistry } from '../registry.ts'
import { userDirectory } from '../user-config.ts'
import { bad, fine, type Checks } from './finding.ts'

export const state: Checks = {
  async project(call) {
    try {
      const project = await openProject(call)
      if (project.file === undefined) return fine(`no svc.config.yaml above ${call.cwd}`)
      return fine(project.file)
    } catch (error) {
      if (!isFailure(error)) throw error
      return bad(error.message, error.fix)
    }
  },

  async data(_, project) {
    if (!project) return fine('-')
    const { dataDirectory } = project
    if (await answersOperator(dataDirectory)) return fine(`${dataDirectory} (a server holds it)`)
    const found = await stat(dataDirectory).catch(() => undefined)
    try {
      await access(found ? dataDirectory : await parentOf(dataDirectory), constants.R_OK | constants.W_OK)
      return fine(found ? dataDirectory : `${dataDirectory} (not made yet)`)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      return bad(`${dataDirectory} cannot be written (${code})`, 'Name another directory with --data.')
    }
  },

  async permissions({ io }, project) {
    if (process.platform === 'win32') return fine('left to Windows')
    const { dataDirectory } = project ?? {}
    const secret = [
      ...(dataDirectory === undefined ? [] : ['', 'data.db', 'server.json'].map((name) => join(dataDirectory, name))),
      join(userDirectory(io.env), 'credentials.json'),
    ]
    for (const path of secret) {
      const mode = (await stat(path).catch(() => undefined))?.mode
      if (mode === undefined || (mode & 0o077) === 0) continue
      return bad(`${path} can be read by others (${(mode & 0o777).toString(8)})`, `chmod go= ${path}`)
    }
    return fine('private')
  },

  async database(_, project) {
    const file = project && join(project.dataDirectory, 'data.db')
    if (!file || !(await stat(file).catch(() => undefined))) return fine('none yet')
    if (await answersOperator(project.dataDirectory)) return fine('in use; checked when its server started')
    const { connect } = await import('../../store/sqlite/connect.ts')
    try {
      const db = connect(file, { readonly: true, timeout: 1000 })
      try {
        const found = String(db.pragma('integrity_check(1)', { simple: true }))
        return found === 'ok' ? fine('whole') : bad(`${file} is damaged: ${found}`, 'svc restore BACKUP --force')
      } finally {
        db.close()
      }
    } catch (error) {
      return bad(`${file} cannot be read: ${(error as Error).message}`, 'svc restore BACKUP --force')
    }
  },

  async server(_, project) {
    if (!project) return fine('-')
    const { dataDirectory } = project
    if (await answersOperator(dataDirectory)) return fine('up')
    const left = await stat(join(dataDirectory, 'server.json')).catch(() => undefined)
    return fine(left ? 'down; the last one was killed, the next cleans up after it' : 'down')
  },

  async lock(call, project) {
    if (project?.file === undefined) return fine('no project')
    const operator = hasRegistry(project) ? await openOperator(project, call.io).catch(() => undefined) : undefined
    try {
      const built = await build({ project, path: project.directory, ...(operator && { operator }) })
      if (!built.compiled) return bad('the documents have errors', 'svc lint')
      if (!(await stat(lockFileOf(built)).catch(() => undefined))) return fine('no svc.lock')
      checkDrift(built, call.cwd)
      return fine('svc.lock is what the documents compile to')
    } catch (error) {
      if (isFailure(error, 'no_documents')) return fine('no documents')
      // Several roots, or none: nothing is compiled here as a whole.
      if (isFailure(error) && error.code !== 'compile/drift') return fine(`not compiled as one (${error.message})`)
      if (isFailure(error)) return bad(error.message, error.fix)
      throw error
    } finally {
      await operator?.close()
    }
  },
}

async function parentOf(path: string): Promise<string> {
  for (let at = dirname(path); ; at = dirname(at))
    if ((await stat(at).catch(() => undefined)) || dirname(at) === at) return at
}
