/** What the console costs a server that nobody looks at: time to its start, and memory (C9). */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const ROOT = resolve(import.meta.dirname, '../..')
const ROUNDS = 5
/** After which a server has settled. */
const SETTLED_MS = 1500

interface ServerCost {
  readonly startMs: number
  readonly rssMiB: number
}

/** The best of some rounds, in turns with and without the console. */
export async function measureIdle(): Promise<{ readonly off: ServerCost; readonly on: ServerCost }> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-idle-'))
  cpSync(join(ROOT, 'templates/refund'), directory, { recursive: true })
  const all: Record<'off' | 'on', ServerCost[]> = { off: [], on: [] }
  for (let round = 0; round < ROUNDS; round++) {
    all.off.push(await costOf(directory, ['--port', '0']))
    all.on.push(await costOf(directory, ['--port', '0', '--console']))
  }
  rmSync(directory, { recursive: true, force: true })
  const best = (costs: readonly ServerCost[]): ServerCost => ({
    startMs: Math.min(...costs.map(({ startMs }) => startMs)),
    rssMiB: Math.min(...costs.map(({ rssMiB }) => rssMiB)),
  })
  return { off: best(all.off), on: best(all.on) }
}

async function costOf(cwd: string, options: readonly string[]): Promise<ServerCost> {
  const begun = performance.now()
  const child = spawn(process.execPath, [join(ROOT, 'bin/svc.js'), 'serve', ...options], { cwd, stdio: 'pipe' })
  const ready = new Promise<number>((done, refuse) => {
    let text = ''
    const read = (chunk: Buffer): void => {
      text += chunk.toString()
      if (/^ready /m.test(text)) done(performance.now() - begun)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => refuse(new Error(`The server ended: ${text}`)))
  })
  const startMs = await ready
  await delay(SETTLED_MS)
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
  const ended = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  await ended
  return { startMs, rssMiB: Number(rss![1]) / 1024 }
}
