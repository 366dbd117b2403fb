/** A PostgreSQL of its own for a test file, in a temporary directory and on a Unix socket; undefined where none is installed. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDirectory } from '../remove-directory.ts'

export interface PostgresServer {
  /** Of a database of this name, which is made where it is new. */
  url(database?: string): string
  /** Path of its Unix socket. */
  readonly socket: string
  /** Ends it as a crash would. */
  crash(): void
  /** Starts it again after a crash. */
  start(): void
  /** Ends it as a crash would, and starts it again. */
  restart(): void
  stop(): void
}

/** Where Debian and others install the programs of each version. */
const PLACES = ['/usr/lib/postgresql', '/usr/local/pgsql', '/opt/homebrew/opt']

function findPrograms(): string | undefined {
  const named = process.env['SVC_TEST_POSTGRES_BIN']
  if (named !== undefined) return named
  const candidates = PLACES.filter((place) => existsSync(place)).flatMap((place) => [
    join(place, 'bin'),
    ...readdirSync(place)
      .sort((a, b) => Number.parseInt(b) - Number.parseInt(a))
      .map((version) => join(place, version, 'bin')),
  ])
  return candidates.find((each) => existsSync(join(each, 'initdb')))
}

/** PostgreSQL refuses to run as root: then as the user that its package made. */
function findUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { stdio: ['ignore', 'pipe', 'ignore'] }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** What runs the programs in a new directory of their user's. */
function openDirectory(programs: string) {
  const user = findUser()
  const directory = mkdtempSync(join(tmpdir(), 'svc-pg-'))
  if (user) chownSync(directory, user.uid, user.gid)
  chmodSync(directory, 0o755)
  const run = (command: string, args: readonly string[]): string =>
    execFileSync(command.startsWith('/') ? command : join(programs, command), args, {
      ...user,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: directory,
    })
  return { directory, run }
}

let emptyServer: string | undefined

/** The files of an empty server, made once a process: that takes longer than to copy and start one. */
function findEmptyServer(programs: string): string {
  if (emptyServer !== undefined) return emptyServer
  const { directory, run } = openDirectory(programs)
  process.once('exit', () => removeDirectory(directory))
  emptyServer = join(directory, 'data')
  run('initdb', ['-D', emptyServer, '-A', 'trust', '-U', 'svc', '--no-sync', '-E', 'UTF8', '--locale=C.UTF-8'])
  return emptyServer
}

/** @param settings of the server; without `fsync`, since no test ends the machine */
export function startPostgres(settings: readonly string[] = []): PostgresServer | undefined {
  const programs = findPrograms()
  if (programs === undefined) {
    process.stderr.write('PostgreSQL is not installed: its tests are skipped (apt-get install postgresql).\n')
    return undefined
  }
  const { directory, run } = openDirectory(programs)
  const data = join(directory, 'data')
  run('/bin/cp', ['-R', findEmptyServer(programs), data])
  const all = ['fsync=off', 'max_connections=200', "listen_addresses=''", ...settings]
  const start = (): void => {
    const options = `-k ${directory} ${all.map((each) => `-c ${each}`).join(' ')}`
    run('pg_ctl', ['-D', data, '-w', '-s', '-l', join(directory, 'log'), '-o', options, 'start'])
  }
  const crash = (): void => void run('pg_ctl', ['-D', data, '-w', '-s', '-m', 'immediate', 'stop'])
  start()
  const databases = new Set(['postgres'])
  return {
    socket: join(directory, '.s.PGSQL.5432'),
    url(database = 'postgres') {
      if (!databases.has(database)) run('createdb', ['-h', directory, '-U', 'svc', database])
      databases.add(database)
      return `postgres:///${database}?host=${encodeURIComponent(directory)}&user=svc`
    },
    crash,
    start,
    restart() {
      crash()
      start()
    },
    stop() {
      try {
        crash()
      } finally {
        removeDirectory(directory)
      }
    },
  }
}
