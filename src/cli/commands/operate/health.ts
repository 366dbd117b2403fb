/** `svc health`: whether a server accepts requests, for the health checks of containers. */
import { signalWithin } from '../../../base/signal-within.ts'
import { resolve } from 'node:path'
import { fail } from '../../../base/failure.ts'
import { showAddress } from '../../../base/net/show-address.ts'
import type { healthAnswer } from '../../answers/operate.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { openProject } from '../../project/project.ts'
import { readServerFile } from '../../project/server/running-server.ts'
import { apiAddress } from '../../project/server/target.ts'
import type { CommandContext } from '../../shell/command.ts'
import { remoteError } from '../../../client/remote-error.ts'

/** A server that takes longer counts as not ready. */
const PATIENCE_MS = 2000

/** The answer of svc is a few bytes; longer answers come from other programs and are not read. */
const MAX_BYTES = 64 * 1024

/** @throws Failure `no_server` where none answers in time; RemoteError `shutting_down` */
export async function health(call: CommandContext<ValueOf<typeof healthAnswer>>): Promise<void> {
  const { mode, out, io } = call
  const url = await urlOf(call)
  const from = io.clock.monotonic()
  const { response, text } = await ask(call, url)
  if (!response.ok) throw remoteError(response.status, 'GET /v1/healthz', text)
  if (!response.headers.has('x-request-id'))
    throw fail('no_server', { url: showAddress(url) }, { fix: 'Another program answers there.' })
  const ms = Math.round(io.clock.monotonic() - from)
  if (mode.json) await out.json({ url, ready: true, ms })
  else out.line(`ready ${url}`)
}

/** Does not read the project file if the data directory is named: a mistake in the file is no reason to restart a server. */
async function urlOf(call: CommandContext): Promise<string> {
  const { globals, io, cwd } = call
  const data = globals.data || io.env['SVC_DATA']
  const isNamed = globals.url !== undefined || globals.profile !== undefined || Boolean(io.env['SVC_URL'])
  const running = data && !isNamed ? await readServerFile(resolve(cwd, data)) : undefined
  return running?.url ?? (await apiAddress(await openProject(call)))
}

async function ask({ io, signal }: CommandContext, url: string): Promise<{ response: Response; text: string }> {
  const within = signalWithin(PATIENCE_MS, signal)
  try {
    const response = await io.fetch(`${url}/v1/healthz`, { signal: within, redirect: 'error' })
    const length = Number(response.headers.get('content-length') ?? 0)
    return { response, text: length > 0 && length <= MAX_BYTES ? await response.text() : '' }
  } catch (cause) {
    if (signal.aborted) throw cause
    throw fail('no_server', { url: new URL(url).origin }, { cause })
  }
}
