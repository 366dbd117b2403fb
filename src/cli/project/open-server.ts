/** Shared by `serve`, `dev` and `demo`: reading the address, opening the server, waiting for a signal. */
import { once } from 'node:events'
import { isFailure } from '../../base/failure.ts'
import { isLoopback } from '../../base/net/loopback.ts'
import type { RunningServer, ServerOptions } from '../../server/open.ts'
import type { CommandContext } from '../shell/command.ts'
import { wholeNumber } from '../shell/numbers.ts'
import type { Project } from './project.ts'
import { projectServerOptions } from './server/server-options.ts'
import { writeWorkspaceName } from './workspace-file.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

const DEFAULT_PORT = 4310

/** Ports that `svc dev` tries before it gives up. */
const PORTS_TRIED = 20

export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** `--port` was given: no other port is tried. */
  readonly named: boolean
  /** Port of the console; null where it is off. */
  readonly consolePort: number | null
}

/** @throws Failure `usage` for an address that others reach, unless `--allow-remote` */
export function readAddress(
  { given }: Pick<CommandContext, 'given'>,
  project: Project,
  withConsole: boolean,
): ListenAddress {
  const host = given.text('host') ?? project.config.dev?.host ?? '127.0.0.1'
  if (!isLoopback(host) && !given.flag('allow-remote'))
    throw usageFailure(`${host} can be reached from other machines.`, 'Add --allow-remote if that is intended.')
  const port = wholeNumber(given.text('port'), 'port')
  if (port !== undefined && port > MAX_PORT) throw usageFailure(`--port takes a number up to ${MAX_PORT}, not ${port}.`)
  const chosen = port ?? project.config.dev?.port ?? DEFAULT_PORT
  const consolePort = project.config.console?.port ?? (chosen === 0 ? 0 : chosen + 2)
  return { host, port: chosen, named: port !== undefined, consolePort: withConsole ? consolePort : null }
}

/** Uploads and the console take the next two. */
const MAX_PORT = 65_533

/** Address for load balancers and the other servers of the store. */
type InternalAddress = NonNullable<ServerOptions['internal']>

/**
 * @param host of the API, used where only a port is given
 * @throws Failure `usage`
 */
export function readInternal(
  { given, io }: Pick<CommandContext, 'given' | 'io'>,
  host: string,
): InternalAddress | undefined {
  const text = given.text('internal') ?? io.env['SVC_INTERNAL']
  const peerUrl = io.env['SVC_PEER_URL']
  if (text === undefined || text === '') return undefined
  const [, named, port] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw usageFailure(`--internal or SVC_INTERNAL takes [host:]port, not ${text}.`, '--internal 0.0.0.0:4313')
  if (peerUrl !== undefined && peerUrl !== '' && !/^https?:$/.test(parseUrl(peerUrl)?.protocol ?? ''))
    throw usageFailure('SVC_PEER_URL is no http address.', 'SVC_PEER_URL=http://10.0.0.7:4313')
  return {
    host: named ? named.replace(/^\[(.*)\]$/, '$1') : host,
    port: Number(port),
    ...(peerUrl && { peerUrl }),
  }
}

/** What a command chooses; the rest follows from the project and the address. */
export interface OpenServerOptions extends Omit<
  ServerOptions,
  keyof ReturnType<typeof projectServerOptions> | 'console'
> {
  readonly project: Project
}

export async function openProjectServer(
  { project, ...options }: OpenServerOptions,
  { host, port, consolePort }: Omit<ListenAddress, 'named'>,
): Promise<RunningServer> {
  const { openServer } = await import('../../server/open.ts')
  const { workspace, console } = project.config
  if (options.dataDirectory !== undefined && workspace) writeWorkspaceName(options.dataDirectory, workspace)
  return await openServer({
    ...projectServerOptions(project),
    ...options,
    host,
    port,
    uploadPort: port === 0 ? 0 : port + 1,
    ...(consolePort !== null && { console: { port: consolePort, ...(console?.host && { host: console.host }) } }),
  })
}

/** Tries the next free ports, unless `--port` was given. */
export async function openServerNearPort(opening: OpenServerOptions, address: ListenAddress): Promise<RunningServer> {
  for (let tried = 0; ; tried++) {
    const nextPort = (port: number): number => (port === 0 ? 0 : port + 3 * tried)
    try {
      // In steps of three: the API, uploads, the console.
      return await openProjectServer(opening, {
        host: address.host,
        port: nextPort(address.port),
        consolePort: address.consolePort && nextPort(address.consolePort),
      })
    } catch (error) {
      if (address.named || !isFailure(error, 'port_taken') || tried === PORTS_TRIED) throw error
    }
  }
}

/** Flags of the command line open a door that the project file leaves closed. */
export function withDoors({ given }: Pick<CommandContext, 'given'>, project: Project): Project {
  const { doors } = project.config
  const opened = { openai: given.flag('openai') || doors?.openai, ag_ui: given.flag('ag-ui') || doors?.ag_ui }
  const kept = Object.fromEntries(Object.entries(opened).filter(([, isOpen]) => isOpen === true))
  return { ...project, config: { ...project.config, doors: kept } }
}

/** The first line of stdout, which scripts wait for. */
export const readyLine = ({ url, uploadUrl, consoleUrl }: RunningServer) => ({
  type: 'ready' as const,
  url,
  uploadUrl,
  consoleUrl,
  pid: process.pid,
})

/** Resolves at Ctrl-C or SIGTERM. @throws Failure for which a server ends by itself */
export async function untilStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  throwWhyEnded(signal)
}

/** @throws Failure for which a server ends by itself */
export function throwWhyEnded({ reason }: AbortSignal): void {
  if (isFailure(reason)) throw reason
}
