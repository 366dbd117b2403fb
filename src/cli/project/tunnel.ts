/** The operator socket of another machine, carried by the system's ssh with all its settings. Source: command line, 1.1. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { fail } from '../../base/failure.ts'
import type { Io } from '../shell/io.ts'

export interface SshTunnel {
  /** Path of the socket on this machine. */
  readonly socket: string
  close(): Promise<void>
}

/** Data directory of a server that was installed for a machine, where the address names none. */
const DATA_DIRECTORY = '/var/lib/svc'
/** What is told of a connection that fails. */
const KEPT = 2000
const LOOK_EVERY_MS = 25

/**
 * @param address `ssh://[user@]host[:port][/data/directory]`
 * @param answers true once the operator application answers at a socket
 * @throws Failure `usage` for an address that is none, `no_server` where ssh ends or nobody listens there
 */
export async function openTunnel(
  address: string,
  env: Io['env'],
  answers: (socket: string) => Promise<boolean>,
): Promise<SshTunnel> {
  const { destination, port, remote } = read(address)
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
      // What follows is a name and never an option.
      '--',
      destination,
    ],
    { stdio: ['inherit', 'ignore', 'pipe'], env: { ...env } },
  )
  let said = ''
  let ended: string | undefined
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-KEPT)))
  child.on('error', (error) => (ended = `ssh cannot be started (${(error as NodeJS.ErrnoException).code})`))
  child.on('exit', (code) => (ended ??= said.trim() || `ssh ended with ${code}`))
  const gone = new Promise<void>((done) => {
    child.once('close', () => done())
    child.once('error', () => done())
  })
  const close = async (): Promise<void> => {
    child.kill()
    await gone
    await rm(directory, { recursive: true, force: true })
  }
  while (ended === undefined) {
    if (await answers(socket)) return { socket, close }
    // ssh has the socket before it knows whether anybody listens at the other end; then it says so and answers nothing.
    if (/open failed|forwarding failed|refused/i.test(said)) ended = said.trim()
    await after(LOOK_EVERY_MS)
  }
  await close()
  throw fail('no_server', { url: address }, { fix: ended })
}

function read(address: string): { readonly destination: string; readonly port: string; readonly remote: string } {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'ssh:' || url.hostname === '' || url.password !== '')
    throw fail('usage', { what: `"${address}" is no address of a server; write ssh://user@host/data/directory.` })
  const path = decodeURIComponent(url.pathname).replace(/\/+$/, '')
  const remote = path === '' ? `${DATA_DIRECTORY}/admin.sock` : path.endsWith('.sock') ? path : `${path}/admin.sock`
  return {
    destination: url.username === '' ? url.hostname : `${decodeURIComponent(url.username)}@${url.hostname}`,
    port: url.port,
    remote,
  }
}
