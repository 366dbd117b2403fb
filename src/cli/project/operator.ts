/**
 * The operator application as the command line calls it: through the socket of the server that holds the data directory,
 * else in this process, holding the directory's lock from the first request that may write. Source: command line, 1.1.
 */
import { fail } from '../../base/failure.ts'
import { silentLog } from '../../base/log.ts'
import type { OpenOperator } from '../../server/open.ts'
import { OPERATOR_KEY_HEADER, type OperatorRoutes } from '../../spec/operator.ts'
import type { CommandContext } from '../shell/command.ts'
import { answersAt, sendOverSocket, socketOf } from './operator-socket.ts'
import type { Project } from './project.ts'
import { remoteError } from '../shell/remote.ts'
import { packageVersion } from '../shell/version.ts'
import { rememberWorkspace } from './workspace-file.ts'

type OperatorRoute = keyof OperatorRoutes
type OperatorAnswer<R extends OperatorRoute> = OperatorRoutes[R]['answer']
type OperatorArguments<R extends OperatorRoute> = (OperatorRoutes[R] extends { body: infer B }
  ? { readonly body: B }
  : { readonly body?: never }) & {
  readonly query?: OperatorRoutes[R] extends { query: infer Q } ? Q : never
  /** For `:id` in the path. */
  readonly id?: string
}

export type SendRequest = (request: Request) => Promise<Response>

export interface OperatorClient {
  call<R extends OperatorRoute>(route: R, given: OperatorArguments<R>): Promise<OperatorAnswer<R>>
  /** A request with a path of the operator application, unread. */
  readonly send: SendRequest
  close(): Promise<void>
}

/** Any host does: nothing is resolved, the socket or this process answers. */
export const OPERATOR_URL = 'http://operator.svc'

/**
 * The channel; a directory is opened by the first request, so a request may throw Failure `store_unreadable`, and one that
 * writes `store_locked` where another process holds the directory and does not answer.
 * @throws Failure `no_project`, `no_server` where a remote one does not answer, `usage` or `invalid_operator_key` for the
 *   place that should hold a credential
 */
export async function openOperator(
  project: Project,
  io: Pick<CommandContext['io'], 'env' | 'clock' | 'trace'>,
): Promise<OperatorClient> {
  const host = project.target?.host
  const trace = io.trace ?? ((send: SendRequest) => send)
  const key = await project.operatorKey()
  const traced = (send: SendRequest): SendRequest => withKey(key, trace(send))
  if (host !== undefined) return await openRemote(host, io.env, traced)
  const socket = await socketOf(project.dataDirectory)
  if (await answersAt(socket))
    return createOperator(
      traced((request) => sendOverSocket(socket, request)),
      async () => undefined,
    )
  if (!project.anchored) throw fail('no_project', { directory: project.directory })
  const { send, close } = openInProcess(project, io)
  return createOperator(traced(send), close)
}

/** Commands that only read run beside each other and beside one that writes. */
function openInProcess(
  project: Project,
  io: Pick<CommandContext['io'], 'env' | 'clock'>,
): Pick<OperatorClient, 'send' | 'close'> {
  let reading: Promise<OpenOperator> | undefined
  let holding: Promise<OpenOperator> | undefined
  const open = async (readOnly: boolean): Promise<OpenOperator> => {
    if (!readOnly && project.config.workspace) rememberWorkspace(project.dataDirectory, project.config.workspace)
    const { openOperator: openApplication } = await import('../../server/open.ts')
    return await openApplication({
      dataDirectory: project.dataDirectory,
      workspace: project.workspace,
      config: project.config,
      configDirectory: project.directory,
      env: io.env,
      clock: io.clock,
      log: silentLog,
      version: packageVersion,
      readOnly,
    })
  }
  return {
    async send(request) {
      // Once the directory is held, everything is read from there: a stream is told of what this command writes.
      if (needsLock(request)) holding ??= open(false)
      const { operator } = await (holding ?? (reading ??= open(true)))
      return await operator.fetch(request)
    },
    async close() {
      for (const opened of [reading, holding]) await (await opened?.catch(() => undefined))?.close()
    },
  }
}

/** Requests that write, that follow a run, and those for which the storage of files is opened. */
const needsLock = ({ method, url }: Request): boolean =>
  method !== 'GET' || /^\/(?:v1\/runs\/[^/]+\/stream|files\/content)$/.test(new URL(url).pathname)

/** A server on another machine: its socket, carried by ssh. */
async function openRemote(
  host: string,
  env: CommandContext['io']['env'],
  traced: (send: SendRequest) => SendRequest,
): Promise<OperatorClient> {
  const { openTunnel } = await import('./tunnel.ts')
  const tunnel = await openTunnel(host, env, answersAt)
  return createOperator(
    traced((request) => sendOverSocket(tunnel.socket, request)),
    () => tunnel.close(),
  )
}

export function createOperator(send: SendRequest, close: () => Promise<void>): OperatorClient {
  return {
    send,
    close,
    async call<R extends OperatorRoute>(route: R, given: OperatorArguments<R>) {
      const [method, pattern] = route.split(' ') as [string, string]
      const path = pattern.replace(':id', encodeURIComponent(given.id ?? ''))
      const url = new URL(path, OPERATOR_URL)
      for (const [name, value] of Object.entries((given.query ?? {}) as Record<string, string | undefined>))
        if (value !== undefined) url.searchParams.set(name, value)
      const body =
        given.body === undefined
          ? {}
          : { body: JSON.stringify(given.body), headers: { 'content-type': 'application/json' } }
      const response = await send(new Request(url, { method, ...body }))
      const text = await response.text()
      if (!response.ok) throw remoteError(response.status, `${method} ${path}`, text)
      return JSON.parse(text) as OperatorAnswer<R>
    },
  }
}

function withKey(key: string | undefined, send: SendRequest): SendRequest {
  if (key === undefined) return send
  return (request) => {
    request.headers.set(OPERATOR_KEY_HEADER, key)
    return send(request)
  }
}

/** Uses the operator application for the length of `work`. */
export async function withOperator<T>(
  project: Project,
  call: Pick<CommandContext, 'io'>,
  work: (operator: OperatorClient) => Promise<T>,
): Promise<T> {
  const operator = await openOperator(project, call.io)
  try {
    return await work(operator)
  } finally {
    await operator.close()
  }
}
