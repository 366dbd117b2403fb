/**
 * Forwards the operator socket of another machine through the system's ssh and its configuration.
 * Source: docs/design/command-line.md#planes
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { cutText } from '../../../base/text/cut-text.ts'
import { showAddress } from '../../../base/net/show-address.ts'
import { fail } from '../../../base/failure.ts'
import type { Io } from '../../shell/io.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

export interface SshTunnel {
  /** Path of the socket on this machine. */
  readonly socket: string
  close(): Promise<void>
}

/** Default data directory: that of a server installed for the whole machine. */
const DATA_DIRECTORY = '/var/lib/svc'
/** Longer error output of ssh is cut at its beginning. */
const MAX_ERROR_CHARACTERS = 2000
const POLL_INTERVAL_MS = 25

/**
 * @param address `ssh://[user@]host[:port][/data/directory]`
 * @param answers true once the operator application answers at a socket
 * @throws Failure `usage` for an invalid address, `no_server` where ssh ends or no server listens there
 */
export async function openTunnel(
  address: string,
  env: Io['env'],
  answers: (socket: string) => Promise<boolean>,
): Promise<SshTunnel> {
  const { destination, port, remote } = parseAddress(address)
  const directory = await mkdtemp(join(tmpdir(), 'svc-ssh-'))
  const socket = join(directory, 'admin.sock')
  const child = spawn(
    'ssh',
    [
      '-NT',
      '-oExitOnForwardFailure=yes',
      '-oStreamLocalBindMask=0177',
      ...(port === '' ? [] : ['-p', port]),
      '-L',
      `${socket}:${remote}`,
      // A host name that begins with a dash is no option.
      '--',
      destination,
    ],
    { stdio: ['inherit', 'ignore', 'pipe'], env: { ...env } },
  )
  let errorOutput = ''
  let failureReason: string | undefined
  child.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (errorOutput = cutText(errorOutput + text, MAX_ERROR_CHARACTERS, 'end').text))
  child.on('error', (error) => (failureReason = `ssh cannot be started (${(error as NodeJS.ErrnoException).code})`))
  child.on('exit', (code) => (failureReason ??= errorOutput.trim() || `ssh ended with ${code}`))
  const childClosed = new Promise<void>((done) => {
    child.once('close', () => done())
    child.once('error', () => done())
  })
  const close = async (): Promise<void> => {
    child.kill()
    await childClosed
    await rm(directory, { recursive: true, force: true })
  }
  while (failureReason === undefined) {
    if (await answers(socket)) return { socket, close }
    // ssh opens the local socket before it connects to the remote one; a failure shows only in its error output.
    if (/open failed|forwarding failed|refused/i.test(errorOutput)) failureReason = errorOutput.trim()
    await after(POLL_INTERVAL_MS)
  }
  await close()
  throw fail('no_server', { url: showAddress(address) }, { fix: failureReason })
}

function parseAddress(address: string): {
  readonly destination: string
  readonly port: string
  readonly remote: string
} {
  const url = parseUrl(address)
  if (url?.protocol !== 'ssh:' || url.hostname === '' || url.password !== '')
    throw usageFailure(`${showAddress(address)} is not a server address; write ssh://user@host/data/directory.`)
  const path = decodeURIComponent(url.pathname).replace(/\/+$/, '')
  const directory = path === '' ? DATA_DIRECTORY : path
  const remote = path.endsWith('.sock') ? path : `${directory}/admin.sock`
  return {
    destination: url.username === '' ? url.hostname : `${decodeURIComponent(url.username)}@${url.hostname}`,
    port: url.port,
    remote,
  }
}
