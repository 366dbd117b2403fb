/** The real binary, as a person, a pipeline or another program starts it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { Io, ProcessSignal } from '../../src/cli/shell/io.ts'
import type { loadCommandLine } from '../../src/cli/start.ts'
import { waitPatiently } from '../wait-until.ts'
import { removeDirectory } from '../remove-directory.ts'

/** The built program, behind `BIN`. */
const PROGRAM = resolve(import.meta.dirname, '../../dist/start.js')
const BIN = resolve(import.meta.dirname, '../../bin/svc.js')
/** The same in the build for tests. */
const MORTAL = resolve(import.meta.dirname, '../../dist/failpoints/svc.js')

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  /** Where the process dies: `SVC_FAILPOINT`, in the build for tests. */
  readonly failpoint?: string
}

/** Settings of the machine that would change what the binary does. */
const environment = (extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => {
  const { PATH, HOME, LANG } = process.env
  return { PATH, HOME, LANG, ...extra }
}

/**
 * Runs a command of the built program to its end, in this process: whatever is not about the process itself. Its first command here
 * compiles the code, the others find it compiled.
 */
export async function svc(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const said = { stdout: '', stderr: '' }
  const code = await runHere(args, options, { say: (stream, text) => void (said[stream] += text) })
  return { code, ...said }
}

/** What a command in this process says, and how it is told to end. */
interface Here {
  /** Columns of the terminal that both outputs are; absent where they are none. */
  readonly columns?: number
  /** Absent for the environment of `RunOptions`. */
  readonly env?: Io['env']
  /** The program's `start.js`; that of the checkout where absent. */
  readonly program?: string
  readonly say: (stream: 'stdout' | 'stderr', text: string) => void
  readonly onSignal?: Io['onSignal']
}

export async function runHere(
  args: readonly string[],
  options: RunOptions,
  { say, onSignal, columns, env, program = PROGRAM }: Here,
): Promise<number> {
  const { runCommandLine } = await loadProgram(program)
  const screen = { isTTY: columns !== undefined, width: columns ?? 80 }
  const input = Buffer.from(options.input ?? '')
  return runCommandLine(args, {
    stdout: { write: (text) => say('stdout', text), ...screen },
    stderr: { write: (text) => say('stderr', text), ...screen },
    stdin: { isTTY: false, text: () => Promise.resolve(input.toString()), bytes: () => Promise.resolve(input) },
    writeBytes: (bytes) => say('stdout', Buffer.from(bytes).toString()),
    env: env ?? environment(options.env),
    cwd: options.cwd ?? process.cwd(),
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    fetch: globalThis.fetch,
    prompts: UNASKED,
    unattended: false,
    onSignal: onSignal ?? (() => () => undefined),
    exit: () => undefined,
  })
}

/** No command asks where its input is no terminal. */
const unasked = (question: string): never => {
  throw new Error(`Nobody is there to be asked "${question}".`)
}
const UNASKED = { confirm: unasked, text: unasked, secret: unasked, key: unasked, select: unasked, edit: unasked }

const loadProgram = (program: string): ReturnType<typeof loadCommandLine> =>
  import(pathToFileURL(program).href).then((loaded: { loadCommandLine: typeof loadCommandLine }) =>
    loaded.loadCommandLine(),
  )

/** Runs `svc` to its end, in a process of its own. */
export function svcProcess(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [BIN, ...args], { cwd: options.cwd, env: environment(options.env) })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', failed)
    child.on('close', (code) => done({ code, stdout, stderr }))
    // It may end before it has read all of it.
    child.stdin.on('error', () => {})
    child.stdin.end(options.input ?? '')
  })
}

/** Runs `svc … --json`, which must succeed, and reads its one document. */
export async function svcJson<T>(args: readonly string[], options: RunOptions = {}): Promise<T> {
  const ran = await svc([...args, '--json'], options)
  if (ran.code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`)
  return JSON.parse(ran.stdout) as T
}

export interface RunningServer {
  readonly url: string
  readonly uploadUrl: string
  readonly stderr: () => string
  /** Everything printed on stdout so far. */
  readonly stdout: () => string
  /** Drains it; resolves with the exit code when it is gone. */
  stop(signal?: ProcessSignal): Promise<number | null>
}

export interface ServerProcess extends RunningServer {
  readonly process: ChildProcess
  /** Resolves when it is gone, with the signal that ended it. */
  readonly died: Promise<NodeJS.Signals | null>
  /** Ends it with a signal; resolves with the exit code when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts `svc serve --port 0 --json` in this process, for a test that does not kill it, and waits for its ready line. */
export async function serveHere(args: readonly string[], options: RunOptions = {}): Promise<RunningServer> {
  const said = { stdout: '', stderr: '' }
  const listeners = new Set<(signal: ProcessSignal) => void>()
  let heard = (): void => undefined
  const ready = new Promise<void>((done) => (heard = done))
  const gone = runHere(['serve', '--port', '0', '--json', '--log-format', 'pretty', ...args], options, {
    say(stream, text) {
      said[stream] += text
      if (said.stdout.includes('\n')) heard()
    },
    onSignal(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
  const failed = gone.then((code) => {
    throw new Error(`svc serve ended with ${code}: ${said.stderr}`)
  })
  failed.catch(() => undefined)
  await Promise.race([ready, failed])
  const { url, uploadUrl } = JSON.parse(said.stdout.split('\n')[0]!) as { url: string; uploadUrl: string }
  return {
    url,
    uploadUrl,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    stop(signal = 'SIGTERM') {
      listeners.forEach((each) => each(signal))
      return waitPatiently(gone, () => `svc serve did not end after ${signal}: ${said.stderr}`)
    },
  }
}

/** Starts `svc serve --port 0 --json` and waits for its ready line. */
export const serve = (args: readonly string[], options: RunOptions = {}): Promise<ServerProcess> =>
  listening('serve', args, options)

/** Starts `svc dev --port 0 --json` and waits for its ready line. */
export const dev = (args: readonly string[], options: RunOptions = {}): Promise<ServerProcess> =>
  listening('dev', args, options)

function listening(command: string, args: readonly string[], options: RunOptions): Promise<ServerProcess> {
  let stderr = ''
  const server = new Promise<ServerProcess>((ready, failed) => {
    const { cwd, env = {}, failpoint } = options
    const binary = failpoint === undefined ? BIN : MORTAL
    const child = spawn(process.execPath, [binary, command, '--port', '0', '--json', ...args], {
      cwd,
      env: environment({ ...env, ...(failpoint !== undefined && { SVC_FAILPOINT: failpoint }) }),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    endWithTests(child)
    let stdout = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const gone = new Promise<number | null>((done) => child.on('close', (code) => done(code)))
    const died = new Promise<NodeJS.Signals | null>((done) => child.on('close', (_, signal) => done(signal)))
    void gone.then((code) => failed(new Error(`svc ${command} ended with ${code} before it was ready: ${stderr}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const first = stdout === ''
      stdout += `${line}\n`
      if (!first) return
      const { url, uploadUrl } = JSON.parse(line) as { url: string; uploadUrl: string }
      ready({
        url,
        uploadUrl,
        process: child,
        died,
        stderr: () => stderr,
        stdout: () => stdout,
        stop(signal = 'SIGTERM') {
          child.kill(signal)
          return waitPatiently(gone, () => `svc ${command} did not end after ${signal}: ${stderr}`)
        },
      })
    })
  })
  return waitPatiently(server, () => `svc ${command} did not become ready: ${stderr}`)
}

/** What was started here and may still run. */
const running = new Set<ChildProcess>()

/** Ends with the tests, or with the command, that started it. */
export function endWithTests(child: ChildProcess): void {
  running.add(child)
}

export const endAll = (): void => running.forEach((each) => each.kill('SIGKILL'))

export interface Project {
  readonly directory: string
  readonly data: string
  remove(): void
}

/** A copy of an example in a temporary directory. */
export const copyExample = (name: string): Project => copy(resolve(import.meta.dirname, '../../examples', name))

export const copyTemplate = (name: string): Project => copy(resolve(import.meta.dirname, '../../templates', name))

/** A copy of a project that lies beside these tests. */
export const copyProject = (name: string): Project => copy(resolve(import.meta.dirname, name))

/** A project of these files, by path. */
export function writeProject(files: Readonly<Record<string, string>>): Project {
  const project = emptyProject()
  for (const [path, text] of Object.entries(files)) {
    const file = join(project.directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  return project
}

function copy(from: string): Project {
  const project = emptyProject()
  cpSync(from, project.directory, { recursive: true })
  return project
}

function emptyProject(): Project {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'))
  return { directory, data: join(directory, '.svc'), remove: () => removeDirectory(directory) }
}

export interface Access {
  readonly agentId: string
  readonly triggerId: string
  readonly secret: string
}

/** Publishes and deploys the project, makes an API trigger whose keys may approve, and a key for it. */
export async function deploy(
  { directory, data }: Project,
  agent: string,
  options: { readonly uploads?: boolean; readonly env?: RunOptions['env'] } = {},
): Promise<Access> {
  const at = { cwd: directory, ...(options.env && { env: options.env }) }
  const published = await svcJson<{ deployed: { agentId: string } }>(['publish', '.', '--deploy', '--data', data], at)
  const { triggerId } = await svcJson<{ triggerId: string }>(
    ['triggers', 'create', agent, '--type', 'api', '--name', 'api', '--allow-approvals', '--data', data],
    at,
  )
  const uploads = options.uploads ? ['--allow-uploads'] : []
  const { secret } = await svcJson<{ secret: string }>(
    ['keys', 'create', '--agent', agent, '--trigger', triggerId, ...uploads, '--data', data],
    at,
  )
  return { agentId: published.deployed.agentId, triggerId, secret }
}
