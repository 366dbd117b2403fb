/** The project `clerk`, whose agent does one small thing for each kind of pause, behind the real server. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  copyProject,
  deploy,
  serveHere,
  svc,
  svcJson,
  type Access,
  type Project,
  type Ran,
  type RunningServer,
} from './binary.ts'
import { caller, type Caller, type Json } from './caller.ts'

export interface Clerk {
  readonly project: Project
  readonly access: Access
  readonly server: RunningServer
  readonly agentId: string
  readonly api: Caller
  /** Starts the case and waits until it pauses or ends. @returns the run's id */
  begin(name: string): Promise<string>
  /** Calls that really happened. */
  ledger(): Json[]
  /** Another key: for the same trigger, unless another is named. */
  key(...options: string[]): Promise<Caller & { readonly secret: string; readonly keyId: string }>
  /** A person with a credential. @returns approves a task as that person */
  approver(email: string): Promise<(userTaskId: string, argsDigest: string) => Promise<Ran>>
  close(): Promise<void>
}

export interface ClerkOptions {
  /** Lines added to `svc.config.yaml`. */
  readonly config?: string
  /** Files written into the project before it is published, by path. */
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}

export async function openClerk({ config = '', files = {}, env = {} }: ClerkOptions = {}): Promise<Clerk> {
  const project = copyProject('clerk')
  const { directory, data } = project
  appendFileSync(join(directory, 'svc.config.yaml'), config)
  for (const [path, text] of Object.entries(files)) writeFileSync(join(directory, path), text)
  const access = await deploy(project, 'acme.clerk', { uploads: true })
  const book = join(directory, 'ledger')
  const server = await serveHere(['--data', data], { cwd: directory, env: { CLERK_LEDGER: book, ...env } })
  const api = caller(server.url, access.secret)
  return {
    project,
    access,
    server,
    agentId: access.agentId,
    api,
    async begin(name) {
      const runId = await api.start(access.agentId, { case: name })
      await api.settled(runId)
      return runId
    },
    ledger: () =>
      existsSync(book)
        ? readFileSync(book, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line))
        : [],
    async key(...options) {
      const given = ['--agent', 'acme.clerk', '--trigger', access.triggerId, ...options]
      const made = await svcJson<{ secret: string; keyId: string }>(['keys', 'create', ...given, '--data', data])
      return { ...caller(server.url, made.secret), secret: made.secret, keyId: made.keyId }
    },
    async approver(email) {
      const given = ['keys', 'create', '--operator', '--email', email, '--data', data]
      const { secret } = await svcJson<{ secret: string }>(given)
      return (userTaskId, argsDigest) =>
        svc(['approve', userTaskId, '--args-digest', argsDigest, '--data', data], { env: { SVC_OPERATOR_KEY: secret } })
    },
    async close() {
      await server.stop('SIGTERM')
      project.remove()
    },
  }
}
