/** A process under test as its parent sees it. */
import { fork, type ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as requestHttp } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { EXTERNAL } from '../../scripts/external.js'
import type { Asked, Ready, Seed, Told, Used } from './subject.ts'

export interface Started {
  readonly runId: string
  /** Milliseconds from the POST to its 202. */
  readonly accepted: number
  /** Resolves at the terminal commit with the milliseconds since the POST. */
  readonly ended: Promise<number>
}

export interface Process {
  /** Milliseconds from the spawn until it listened. */
  readonly bootMs: number
  /** @param kind how many tools the run calls, or `waits` */
  run(kind: string): Promise<Started>
  /** Asks with the key of a kind; answers the body and the milliseconds that it took. */
  get(path: string, kind?: string): Promise<{ readonly text: string; readonly ms: number }>
  /** The agent whose runs are of a kind. */
  agentOf(kind: string): string
  used(collect?: boolean): Promise<Used>
  /** Stores that many more runs like the first one of a kind that was run here. Resolves with the id of one of them. */
  seed(kind: string, count: number): Promise<string>
  kill(): Promise<void>
  readonly child: ChildProcess
}

/** Bundled as the binary is: what is measured is not how a loader of TypeScript rewrites it. */
const BUILT = new URL('../../node_modules/.cache/svc-bench/', import.meta.url)

const SUBJECTS: Readonly<Record<string, URL>> = {
  product: new URL('product.ts', import.meta.url),
  ceiling: new URL('ceiling.ts', import.meta.url),
}

export async function buildSubjects(subjects = SUBJECTS, sourcemap = false): Promise<void> {
  rmSync(BUILT, { recursive: true, force: true })
  for (const [name, entry] of Object.entries(subjects))
    await build({
      entryPoints: [fileURLToPath(entry)],
      outdir: fileURLToPath(BUILT),
      sourcemap,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      // As in the binary, what is behind an `import()` is loaded when it is asked for.
      splitting: true,
      chunkNames: `${name}-[name]-[hash]`,
      external: EXTERNAL,
      banner: {
        js: "import { createRequire as benchRequire } from 'node:module'; const require = benchRequire(import.meta.url);",
      },
      minifyWhitespace: true,
      minifySyntax: true,
      define: { SVC_FAILPOINTS: 'false' },
      platform: 'node',
      format: 'esm',
      logLevel: 'warning',
    })
  cpSync(new URL('../../src/store/sqlite/migrations/', import.meta.url), new URL('./migrations/', BUILT), {
    recursive: true,
  })
}

/** @param profile true = a `.cpuprofile` is written where the bench is run */
export async function open(file: string, args: readonly string[], profile = false): Promise<Process> {
  const spawned = performance.now()
  const child = fork(new URL(file, BUILT), args, {
    execArgv: ['--expose-gc', ...(profile ? ['--cpu-prof'] : [])],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<string, (at: number) => void>()
  const early = new Map<string, number>()
  const answers: { ready?: (about: Ready) => void; used?: (about: Used) => void; seeded?: (id: string) => void } = {}
  child.on('message', (told: Told) => {
    if (told.ready) answers.ready?.(told.ready)
    if (told.used) answers.used?.(told.used)
    if (told.seeded !== undefined) answers.seeded?.(told.seeded)
    for (const id of told.ended ?? []) {
      const tell = waiting.get(id)
      if (tell) tell(performance.now())
      else early.set(id, performance.now())
      waiting.delete(id)
    }
  })
  const ask = (asked: Asked): void => void child.send(asked)
  const ready = await new Promise<Ready>((resolve, reject) => {
    answers.ready = resolve
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}.`)))
  })
  const bootMs = performance.now() - spawned
  const agent = new Agent({ keepAlive: true, maxSockets: 2000 })
  const { port } = new URL(ready.url)

  const send = (method: string, path: string, kind: string, body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const key = ready.headers[kind]
      const headers = {
        ...(body !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...(key !== undefined && { 'x-api-key': key }),
      }
      const request = requestHttp({ host: '127.0.0.1', port, path, method, agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('end', () =>
          response.statusCode! < 300 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`)),
        )
      })
      request.on('error', reject)
      request.end(body)
    })

  return {
    child,
    bootMs,
    async run(kind) {
      const body = JSON.stringify({ input: { order: 'A-1042' }, tools: Number(kind) || 0 })
      const from = performance.now()
      const answer = await send('POST', ready.starts[kind]!, kind, body)
      const accepted = performance.now() - from
      const { runId } = JSON.parse(answer) as { runId: string }
      const before = early.get(runId)
      early.delete(runId)
      const ended =
        before !== undefined
          ? Promise.resolve(before - from)
          : new Promise<number>((resolve) => waiting.set(runId, (at) => resolve(at - from)))
      return { runId, accepted, ended }
    },
    async get(path, kind = '0') {
      const from = performance.now()
      const text = await send('GET', path, kind, '')
      return { text, ms: performance.now() - from }
    },
    agentOf: (kind) => ready.starts[kind]!.split('/')[3]!,
    used(collect = false) {
      ask({ ask: 'used', collect })
      return new Promise((resolve) => (answers.used = resolve))
    },
    seed(kind, count) {
      const like = kind === 'waits' ? kind : `tools-${kind}`
      ask({ ask: 'seed', like, count } satisfies { ask: 'seed' } & Seed)
      return new Promise((resolve) => (answers.seeded = resolve))
    },
    async kill() {
      agent.destroy()
      const gone = new Promise((resolve) => child.once('exit', resolve))
      if (profile) child.disconnect()
      else child.kill('SIGKILL')
      await gone
    },
  }
}

export async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  try {
    await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
