/**
 * How fast `svc` starts, serves and runs, beside bare Node in the same rounds, and the first three minutes with a stopwatch.
 * `npm run bench:cli [rounds]` after `npm run build`. Exit code 1 when a gate is missed.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const SVC = resolve(import.meta.dirname, '../../bin/svc.js')
const rounds = Number(process.argv[2] ?? 5)

const work = mkdtempSync(join(tmpdir(), 'svc-bench-cli-'))
process.on('exit', () => rmSync(work, { recursive: true, force: true }))
const project = join(work, 'desk')
/** One agent with one model call and no tool, as the yardsticks have it. */
const small = join(work, 'small')
// What the machine's own settings cost Node at its start, they cost both sides.
const env = { ...process.env, HOME: join(work, 'home'), NO_COLOR: '1', CI: '1' }
mkdirSync(env.HOME)

/** Runs a command to its end. @throws where it ends with another code than one of these */
function run(args: readonly string[], cwd = work, codes: readonly number[] = [0]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' })
  if (!codes.includes(status ?? -1)) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`)
  return stdout
}

const since = (started: bigint): number => Number(process.hrtime.bigint() - started) / 1e6

async function timed(act: () => unknown): Promise<number> {
  const started = process.hrtime.bigint()
  await act()
  return since(started)
}

interface Dev {
  readonly url: string
  readonly child: ChildProcess
}

function dev(cwd = project): Promise<Dev> {
  const child = spawn(process.execPath, [SVC, 'dev', '--json', '--port', '0', '--no-watch'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((ready, failed) => {
    child.once('exit', (code) => failed(new Error(`svc dev ended with ${code}.`)))
    child.stdout.once('data', (line: Buffer) => {
      ready({ url: (JSON.parse(line.toString().split('\n')[0]!) as { url: string }).url, child })
    })
  })
}

const ended = ({ child }: Dev): Promise<unknown> => {
  child.removeAllListeners('exit')
  const gone = new Promise((done) => child.once('exit', done))
  child.kill('SIGTERM')
  return gone
}

/** Starts a run over HTTP and waits until it is over. */
async function firstRun(url: string, agentId: string): Promise<void> {
  const { key } = JSON.parse(readFileSync(join(small, '.svc/server.json'), 'utf8')) as { key: { secret: string } }
  const headers = { 'X-API-Key': key.secret, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ input: { question: 'What is it?' } })
  const started = await fetch(`${url}/v1/agents/${agentId}/runs`, { method: 'POST', headers, body })
  const { runId } = (await started.json()) as { runId: string }
  for (;;) {
    const { status } = (await (await fetch(`${url}/v1/runs/${runId}`, { headers })).json()) as { status: string }
    if (status === 'Completed') return
    if (status !== 'Running' && status !== 'Pending') throw new Error(`The run is ${status}.`)
    await pause(1)
  }
}

const agentOf = (list: string): string => (JSON.parse(list) as { items: { agentId: string }[] }).items[0]!.agentId

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

/** Of `node -e 0`. Source: docs/design/command-line.md#start-time */
const GATES: Readonly<Record<string, number>> = {
  'svc --version': 1.5,
  'svc --help': 2,
  'svc lint, one file': 3,
  'svc dev, to ready': 4,
  'spawn to first run done': 4,
}

const seen = new Map<string, number[]>()
const note = (name: string, ms: number): void => void seen.set(name, [...(seen.get(name) ?? []), ms])

run([SVC, 'init', project, '--full', '--no-git'])
run([SVC, 'init', small, '-t', 'blank', '--no-git'])
const alone = join(work, 'alone')
cpSync(join(project, 'tools/orders-lookup.yaml'), join(alone, 'tool.yaml'))
let agentId = ''
// The first round fills what is kept between starts, as a first use does; it is not counted.
for (let round = -1; round < rounds; round++) {
  // Without a data directory: with one, lint asks it what was published.
  rmSync(join(project, '.svc'), { recursive: true, force: true })
  const told: [string, number][] = []
  const take = async (name: string, act: () => unknown): Promise<void> => {
    told.push([name, await timed(act)])
  }
  await take('node -e 0', () => run(['-e', '0']))
  await take('svc --version', () => run([SVC, '--version']))
  await take('svc --help', () => run([SVC, '--help']))
  await take('svc lint, one file', () => run([SVC, 'lint'], alone, [0, 1]))
  await take('svc lint, one bundle', () => run([SVC, 'lint'], project, [0, 1]))
  let server: Dev | undefined
  await take('svc dev, first time, to ready', async () => (server = await dev()))
  await take('svc run of the example', () =>
    run([SVC, 'run', 'acme.refund-desk', 'order=A-1042', 'amount:=40'], project),
  )
  await ended(server!)
  await take('svc dev, to ready', async () => (server = await dev()))
  await ended(server!)
  if (round === -1) {
    // A data directory that is there, as on every day but the first.
    await ended(await dev(small))
    agentId = agentOf(run([SVC, 'agents', 'list', '--json'], small))
  }
  await take('spawn to first run done', async () => {
    server = await dev(small)
    await firstRun(server.url, agentId)
  })
  await ended(server!)
  if (round >= 0) told.forEach(([name, ms]) => note(name, ms))
}

const base = median(seen.get('node -e 0')!)
let missed = 0
console.log('| | ms | of node -e 0 | gate |\n|---|---|---|---|')
for (const [name, all] of seen) {
  const ratio = median(all) / base
  const gate = GATES[name]
  const verdict = gate === undefined ? '' : `${gate}${ratio <= gate ? '' : ' missed'}`
  if (gate !== undefined && ratio > gate) missed++
  console.log(`| ${name} | ${median(all).toFixed(0)} | ${ratio.toFixed(2)} | ${verdict} |`)
}

console.log('\nThe first three minutes, without a network beyond this machine:\n')
const second = join(work, 'first')
let watch: Dev | undefined
const steps: readonly (readonly [string, () => unknown])[] = [
  ['svc demo', () => run([SVC, 'demo', '--speed', '0'])],
  ['svc init', () => run([SVC, 'init', second, '--full', '--no-git'])],
  ['svc dev', async () => (watch = await dev())],
  ['svc run', () => run([SVC, 'run', 'acme.refund-desk', 'order=A-1042', 'amount:=180'], project, [3])],
  ['svc approve', () => run([SVC, 'approve', '@waiting', '--yes'], project)],
  ['svc test', () => run([SVC, 'test'], second)],
]
for (const [name, act] of steps) console.log(`${name.padEnd(12)} ${(await timed(act)).toFixed(0).padStart(6)} ms`)
await ended(watch!)
process.exitCode = missed > 0 ? 1 : 0
