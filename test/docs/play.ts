/**
 * Plays a page: real shell, the packed program outside the checkout, an empty home, no terminal to ask. Commands of `svc` alone, which
 * need no shell, run in this process; in a long run, in one of their own.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { isLong } from '../cases.ts'
import { runHere } from '../e2e/program.ts'
import { packPackage } from '../packed.ts'
import { matches, named, type Block, type Names, type Part } from './page.ts'
import { removeDirectory } from '../remove-directory.ts'

/** Time that a server has to say what the page says. */
const PATIENCE_MS = 20_000

interface Server {
  readonly process: ChildProcess
  readonly gone: Promise<unknown>
  /** Since it was heard last. */
  said: string
}

export interface Difference {
  readonly page: string
  /** Of the block, from 1. */
  readonly line: number
  /** Absent for what a server said by itself. */
  readonly command?: string
  readonly expected: string
  readonly actual: string
}

/**
 * @param names addresses of the page that stand for servers which run already
 * @returns where page and product differ
 */
export async function play(name: string, blocks: readonly Block[], names: Names = new Map()): Promise<Difference[]> {
  const stage = openStage()
  const found: Difference[] = []
  try {
    for (const block of blocks) {
      if (block.is === 'file') stage.write(block.path, named(block.text, names))
      if (block.is !== 'console') continue
      for (const part of block.parts) {
        const expected = [...part.output, ...(part.exit === 0 ? [] : [`# exit ${part.exit}`])]
        const actual = await stage.perform(part, names)
        if (!matches(expected, actual, names))
          found.push({
            page: name,
            line: block.line,
            ...(part.command !== undefined && { command: part.command }),
            expected: expected.join('\n'),
            actual: actual.trimEnd(),
          })
      }
    }
  } finally {
    await stage.close()
  }
  return found
}

function openStage() {
  const home = mkdtempSync(join(tmpdir(), 'svc-page-'))
  const bin = join(home, 'bin')
  const project = join(home, 'work')
  const state = join(home, 'state')
  mkdirSync(bin)
  mkdirSync(project)
  const program = (file: string, text: string): void => {
    writeFileSync(join(bin, file), `#!/bin/sh\n${text}\n`)
    chmodSync(join(bin, file), 0o755)
  }
  program('svc', `exec "${process.execPath}" "${packPackage().program}" "$@"`)
  program('npx', 'exec "$@"')
  writeFileSync(state, `cd "${project}"\n`)
  const env = {
    PATH: `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    NO_COLOR: '1',
    SVC_FORCE_TTY: '120',
    SVC_OPERATOR: 'ana@acme.example',
  }
  const servers: Server[] = []

  /** Runs in the directory and with the variables that the command before left behind. */
  const shell = (command: string, onEnd: string): ChildProcess =>
    spawn('bash', ['-c', `source "${state}"\n${command}\n${onEnd}`], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })

  const run = (command: string): Promise<string> =>
    new Promise((done, failed) => {
      const keep = `code=$?; { echo "cd \\"$PWD\\""; declare -px | grep SVC_API; } > "${state}"; exit $code`
      // What is piped or kept is no terminal's.
      const terminal = /[|>]|\$\(/.test(command) ? 'unset SVC_FORCE_TTY\n' : ''
      const child = shell(`${terminal}{ ${command}\n} 2>&1`, keep)
      let said = ''
      child.stdout!.setEncoding('utf8').on('data', (text: string) => (said += text))
      child.on('error', failed)
      child.on('close', (code) => done(`${ended(said)}${code === 0 ? '' : `# exit ${code}\n`}`))
    })

  const runAlone = async (words: readonly string[]): Promise<string> => {
    let said = ''
    const program = join(packPackage().directory, 'dist/start.js')
    const cwd = /^cd "(.*)"$/m.exec(readFileSync(state, 'utf8'))![1]!
    const say = (_: string, text: string): void => void (said += text)
    const code = await runHere(words, { cwd }, { env, columns: 120, program, say })
    return `${ended(said)}${code === 0 ? '' : `# exit ${code}\n`}`
  }

  /** Ports are given by the system: pages are played side by side. */
  const serve = (command: string): void => {
    const free = command.replace(/ --port \d+/, '').replace(/^svc (dev|serve)/, '$& --port 0')
    const child = shell(`exec ${free} 2>&1`, '')
    const gone = new Promise((done) => child.on('close', done))
    const server: Server = { process: child, gone, said: '' }
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (server.said += text))
    servers.push(server)
  }

  const hear = async (expected: readonly string[], names: Names): Promise<string> => {
    const server = servers.at(-1)!
    const until = Date.now() + PATIENCE_MS
    const silent = (): boolean => server.said === '' && server.process.exitCode === null
    while ((silent() || !matches(expected, server.said, names)) && Date.now() < until) await after(20)
    const { said } = server
    server.said = ''
    return said
  }

  return {
    write(path: string, text: string): void {
      const directory = /^cd "(.*)"$/m.exec(readFileSync(state, 'utf8'))![1]!
      const file = join(directory, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    },
    async perform({ command, output }: Part, names: Names): Promise<string> {
      if (command === undefined) return await hear(output, names)
      const line = named(command, names)
      if (!/^svc (dev|serve)\b(?!.*--help)/.test(line)) {
        const words = isLong || /^declare /m.test(readFileSync(state, 'utf8')) ? undefined : wordsOf(line)
        return await (words ? runAlone(words) : run(line))
      }
      serve(line)
      return await hear(output, names)
    },
    async close(): Promise<void> {
      for (const server of servers) server.process.kill('SIGTERM')
      await Promise.all(servers.map(({ gone }) => gone))
      removeDirectory(home)
    },
  }
}

/** Words after `svc`; undefined where the line needs a shell. */
function wordsOf(line: string): string[] | undefined {
  const word = /(?:'[^']*'|"[^"$`\\]*"|[^\s'"$`\\|&;<>()*?[\]{}~#!])+/g
  if (!line.startsWith('svc ') || line.replaceAll(word, '').trim() !== '') return undefined
  return line
    .match(word)!
    .slice(1)
    .map((each) => each.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
}

const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)
