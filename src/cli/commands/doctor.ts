import { access, constants, mkdir } from 'node:fs/promises'
import { fail, isFailure } from '../../base/failure.ts'
import { answersOperator } from '../operator-socket.ts'
import type { Call } from '../command.ts'
import { openProject } from '../project.ts'

interface Finding {
  readonly check: string
  readonly ok: boolean
  readonly say: string
  readonly fix?: string
}

/** A check that is named alone says nothing when all is well. */
export async function doctor(call: Call): Promise<number> {
  const { given, mode, out } = call
  const named = given.rest(0)
  const unknown = named.find((each) => !Object.hasOwn(checks, each))
  if (unknown !== undefined)
    throw fail('usage', { what: `There is no check "${unknown}".` }, { fix: Object.keys(checks).join(', ') })
  const items: Finding[] = []
  for (const name of named.length > 0 ? named : Object.keys(checks))
    items.push({ check: name, ...(await checks[name]!(call)) })
  const ok = items.every((each) => each.ok)
  if (mode.json) await out.json({ ok, items })
  else
    for (const each of items) {
      if (each.ok && named.length === 0) out.line(`✔ ${each.check.padEnd(8)} ${each.say}`)
      if (!each.ok) out.line(`✖ ${each.check.padEnd(8)} ${each.say}${each.fix ? `\n  fix: ${each.fix}` : ''}`)
    }
  return ok ? 0 : 1
}

const checks: Readonly<Record<string, (call: Call) => Promise<Omit<Finding, 'check'>>>> = {
  async node() {
    const [major, minor] = process.versions.node.split('.').map(Number) as [number, number]
    const ok = major > 20 || (major === 20 && minor >= 19)
    return { ok, say: process.versions.node, ...(!ok && { fix: 'Install Node 20.19 or later.' }) }
  },
  async sqlite() {
    try {
      const { default: Database } = await import('better-sqlite3')
      const db = new Database(':memory:')
      const version = db.prepare('select sqlite_version()').pluck().get() as string
      db.close()
      return { ok: true, say: version }
    } catch (error) {
      return {
        ok: false,
        say: `better-sqlite3 was installed without its native part (${(error as Error).message.split('\n')[0]})`,
        fix: 'npm rebuild better-sqlite3',
      }
    }
  },
  async project(call) {
    try {
      const project = await openProject(call)
      return { ok: true, say: project.file ?? `no svc.config.yaml above ${call.cwd}` }
    } catch (error) {
      if (!isFailure(error)) throw error
      return { ok: false, say: error.message, ...(error.fix && { fix: error.fix }) }
    }
  },
  async data(call) {
    const { dataDirectory } = await openProject(call).catch(() => ({ dataDirectory: call.cwd }))
    if (await answersOperator(dataDirectory)) return { ok: true, say: `${dataDirectory} (a server holds it)` }
    try {
      await mkdir(dataDirectory, { recursive: true, mode: 0o700 })
      await access(dataDirectory, constants.R_OK | constants.W_OK)
      return { ok: true, say: dataDirectory }
    } catch (error) {
      return {
        ok: false,
        say: `${dataDirectory} cannot be written (${(error as NodeJS.ErrnoException).code})`,
        fix: 'Name another directory with --data.',
      }
    }
  },
}
