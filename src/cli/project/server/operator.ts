/**
 * How the command line reaches the operator application: through the socket of the server that holds the data directory, or
 * in this process, which then locks the directory from the first request that may write. Source: docs/design/command-line.md#planes
 */
import { fail } from '../../../base/failure.ts'
import { silentLog } from '../../../base/log.ts'
import { isLoopback } from '../../../base/net/loopback.ts'
import { showAddress } from '../../../base/net/show-address.ts'
import type { OpenOperator } from '../../../server/open.ts'
import { OPERATOR_KEY_HEADER } from '../../../operations/headers.ts'
import { findOperation } from '../../../operations/operations.ts'
import { createOperator, type OperatorClient, type SendRequest } from '../../../client/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { answersAt, sendOverSocket, socketOf } from './running-server.ts'
import { openProject, type Project } from '../project.ts'
import { RemoteError } from '../../../client/remote-error.ts'
import { projectServerOptions } from './server-options.ts'
import { writeWorkspaceName } from '../workspace-file.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

/**
 * Opens the channel. The first request opens the data directory, so a request may throw Failure `store_unreadable`, and one
 * that writes `store_locked` if another process holds the directory and does not answer.
 * @throws Failure `no_project`, `no_server` if a remote server does not answer, `usage` or `invalid_operator_key` if the
 *   credential is missing from its place or invalid
 */
export async function openOperatorChannel(
  project: Project,
  io: Pick<CommandContext['io'], 'env' | 'clock' | 'trace'>,
): Promise<OperatorClient> {
  const host = project.target?.host
  const trace = io.trace ?? ((send: SendRequest) => send)
  const key = await project.operatorKey()
  const traced = (send: SendRequest): SendRequest => withKey(key, trace(send))
  if (key !== undefined && project.operatorUrl !== undefined && host === undefined)
    return openHttp(project.operatorUrl, traced)
  if (host !== undefined && /^https?:/.test(host)) return openHttp(host, traced)
  if (host !== undefined) return await openRemote(host, io.env, traced)
  // A server that is named explicitly is the only target: the local project must not answer, or act, in its place.
  if (project.operatorUrl !== undefined)
    throw fail(
      'usage',
      { what: `Operators sign in at ${showAddress(project.operatorUrl)}, and no credential was given.` },
      { fix: '--operator-key-file FILE, or SVC_OPERATOR_KEY; svc keys create --operator makes one.' },
    )
  const socket = await socketOf(project.dataDirectory)
  if (await answersAt(socket))
    return createOperator(traced(readingElsewhere(project, (request) => sendOverSocket(socket, request))))
  if (!project.anchored) throw fail('no_project', { directory: project.directory })
  const { send, close } = openInProcess(project, io)
  return createOperator(traced(readingElsewhere(project, send)), { isServed: false, close })
}

/**
 * A profile with only the address of another server has no operator channel. The local project must not be changed instead.
 */
const readingElsewhere =
  ({ target }: Project, send: SendRequest): SendRequest =>
  async (request) => {
    if (target?.name === undefined || target.url === undefined || isQuestion(request)) return await send(request)
    throw fail(
      'usage',
      {
        what: `The profile ${target.name} names a server, but no operator channel, and this would change the local one.`,
      },
      {
        fix: `svc config set profiles.${target.name}.host https://ADDRESS --user, its operator listener; or leave the profile out.`,
      },
    )
  }

const isQuestion = ({ method, url }: Request): boolean =>
  method === 'GET' || findOperation(`${method} ${new URL(url).pathname}`)?.isQuestion === true

/** Opens the application read-only for reads, so that reading commands can run at the same time as one that writes. */
function openInProcess(
  project: Project,
  io: Pick<CommandContext['io'], 'env' | 'clock'>,
): Pick<OperatorClient, 'send' | 'close'> {
  let readOnlyApp: Promise<OpenOperator> | undefined
  let lockingApp: Promise<OpenOperator> | undefined
  const open = async (readOnly: boolean): Promise<OpenOperator> => {
    if (!readOnly && project.config.workspace) writeWorkspaceName(project.dataDirectory, project.config.workspace)
    const { openOperator } = await import('../../../server/open.ts')
    return await openOperator({
      ...projectServerOptions(project),
      dataDirectory: project.dataDirectory,
      ...(project.store !== undefined && { store: project.store }),
      env: io.env,
      clock: io.clock,
      log: silentLog,
      readOnly,
    })
  }
  return {
    async send(request) {
      // Once this process holds the directory it also reads there, so that a stream sees what this command writes.
      if (needsLock(request)) lockingApp ??= open(false)
      const { operator } = await (lockingApp ?? (readOnlyApp ??= open(true)))
      return await operator.fetch(request)
    },
    async close() {
      for (const opened of [readOnlyApp, lockingApp]) await (await opened?.catch(() => undefined))?.close()
    },
  }
}

/** True for requests that write, follow a run, or open the storage of files. */
const needsLock = ({ method, url }: Request): boolean =>
  method !== 'GET' || /^\/(?:v1\/runs\/[^/]+\/stream|files\/content)$/.test(new URL(url).pathname)

/**
 * Speaks to the operator listener of a server, which knows people by their credential.
 * @throws Failure `usage` for an address that would carry the credential in clear over a network
 */
function openHttp(address: string, traced: (send: SendRequest) => SendRequest): OperatorClient {
  const base = parseUrl(address)
  if (base?.protocol !== 'https:' && !(base?.protocol === 'http:' && isLoopback(base.hostname)))
    throw fail('usage', {
      what: `${showAddress(address)} is no https address, and your credential would travel in clear.`,
    })
  const send: SendRequest = async (request) => {
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    const body = method === 'GET' ? {} : { body: await request.arrayBuffer() }
    return await fetch(new URL(pathname + search, base), { method, headers, ...body }).catch((cause: unknown) => {
      throw fail('no_server', { url: base.origin }, { cause, fix: 'Check the address of its operator listener.' })
    })
  }
  const operator = createOperator(traced(send))
  return {
    ...operator,
    call: (route, given) =>
      operator.call(route, given).catch((error: unknown) => {
        if (!(error instanceof RemoteError && error.message === NO_ROUTE)) throw error
        throw fail(
          'usage',
          { what: `Operators are not served at ${base.origin}.` },
          { cause: error, fix: 'Name the operator listener: consoleUrl in the log of svc serve --console.' },
        )
      }),
  }
}

/** The API's answer to a request for an operator route. */
const NO_ROUTE = 'No such route.'

/** Opens the socket of a server on another machine through ssh. */
async function openRemote(
  host: string,
  env: CommandContext['io']['env'],
  traced: (send: SendRequest) => SendRequest,
): Promise<OperatorClient> {
  const { openTunnel } = await import('./tunnel.ts')
  const tunnel = await openTunnel(host, env, answersAt)
  return createOperator(
    traced((request) => sendOverSocket(tunnel.socket, request)),
    { close: () => tunnel.close() },
  )
}

function withKey(key: string | undefined, send: SendRequest): SendRequest {
  if (key === undefined) return send
  return (request) => {
    request.headers.set(OPERATOR_KEY_HEADER, key)
    return send(request)
  }
}

/** Opens the operator application of the project around, for the duration of `work`. */
export async function withOperator<T>(
  call: Pick<CommandContext, 'cwd' | 'globals' | 'io'>,
  work: (operator: OperatorClient) => Promise<T>,
): Promise<T> {
  return await withOperatorOf(await openProject(call), call, work)
}

/** The same for a project that is open. */
export async function withOperatorOf<T>(
  project: Project,
  call: Pick<CommandContext, 'io'>,
  work: (operator: OperatorClient) => Promise<T>,
): Promise<T> {
  const operator = await openOperatorChannel(project, call.io)
  try {
    return await work(operator)
  } finally {
    await operator.close()
  }
}
