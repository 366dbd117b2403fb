/**
 * How fast `svc` starts and lints, beside bare Node, the `yaml` package and redocly, all in the same rounds.
 * `npm run bench:lint [rounds] [documents,…]` after `npm run build`. Exit code 1 when a gate is missed.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { writeCorpus } from './corpus.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SVC = join(ROOT, 'bin/svc.js')
const rounds = Number(process.argv[2] ?? 3)
const sizes = (process.argv[3] ?? '20,200,1000,5000').split(',').map(Number)

const work = mkdtempSync(join(tmpdir(), 'svc-bench-lint-'))
process.on('exit', () => rmSync(work, { recursive: true, force: true }))

interface Measured {
  readonly ms: number
  readonly cpuMs: number
  readonly mib: number
}

/** Runs Node on a script and measures it from outside: wall clock, CPU of the child, its largest resident size. */
function node(args: readonly string[], mayFail = false): Measured {
  const usage = join(work, 'usage')
  const hook = join(work, 'usage.cjs')
  writeFileSync(
    hook,
    `process.on('exit', () => { const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage(); require('fs').writeFileSync(${JSON.stringify(usage)}, JSON.stringify({ cpu: userCPUTime + systemCPUTime, rss: maxRSS })) })`,
  )
  const measure = (extra: readonly string[]): number => {
    const started = process.hrtime.bigint()
    const { status, stderr } = spawnSync(process.execPath, [...extra, ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { ...process.env, NO_COLOR: '1', REDOCLY_TELEMETRY: 'off', CI: '1' },
    })
    if (status !== 0 && !mayFail)
      throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr.slice(0, 500)}`)
    return Number(process.hrtime.bigint() - started) / 1e6
  }
  const ms = measure(['-r', hook])
  const { cpu, rss } = JSON.parse(readFileSync(usage, 'utf8')) as {
    cpu: number
    rss: number
  }
  return { ms, cpuMs: cpu / 1000, mib: rss / 1024 }
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

interface Contestant {
  readonly name: string
  readonly args: readonly string[]
  /** The linter is expected to complain. */
  readonly mayFail?: boolean
}

/** Contestants take turns, so that a slow minute of the machine is a slow minute of all. Answers the medians by name. */
function compare(
  title: string,
  contestants: readonly Contestant[],
  documents?: number,
): ReadonlyMap<string, Pick<Measured, 'ms' | 'mib'>> {
  const seen = new Map<string, Measured[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const { name, args, mayFail } of contestants) seen.get(name)!.push(node(args, mayFail))
  const base = median(seen.get(contestants[0]!.name)!.map(({ ms }) => ms))
  console.log(`\n${title}\n`)
  console.log(`| | ms | ratio | CPU ms | MiB |${documents ? ' documents/s |' : ''}`)
  console.log(`|---|---|---|---|---|${documents ? '---|' : ''}`)
  for (const [name, all] of seen) {
    const [ms, cpu, mib] = [all.map((each) => each.ms), all.map((each) => each.cpuMs), all.map((each) => each.mib)]
    const rate = documents ? ` ${Math.round((documents / median(ms)) * 1000)} |` : ''
    console.log(
      `| ${name} | ${median(ms).toFixed(0)} | ${(median(ms) / base).toFixed(2)} | ${median(cpu).toFixed(0)} | ${median(mib).toFixed(0)} |${rate}`,
    )
  }
  return new Map(
    [...seen].map(([name, all]) => [
      name,
      { ms: median(all.map(({ ms }) => ms)), mib: median(all.map(({ mib }) => mib)) },
    ]),
  )
}

/** Prints whether one took at most `most` times as long as another; a gate without its contestant is passed over. */
function gate(
  goal: string,
  times: ReadonlyMap<string, Pick<Measured, 'ms'>>,
  name: string,
  most: number,
  other: string,
): void {
  const [ours, theirs] = [times.get(name)?.ms, times.get(other)?.ms]
  if (ours === undefined || theirs === undefined) return
  const held = ours <= most * theirs
  if (!held) process.exitCode = 1
  console.log(`${goal}: ${name}: ${(ours / theirs).toFixed(2)} x ${other}, at most ${most}${held ? '' : ': MISSED'}`)
}

/** The other linter, in a directory of its own; undefined where it cannot be installed. */
function install(): string | undefined {
  const directory = join(work, 'others')
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{"private":true}')
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', '@redocly/cli@2'], {
    cwd: directory,
    stdio: 'ignore',
    timeout: 180_000,
  })
  if (status === 0) return join(directory, 'node_modules')
  console.log('@redocly/cli is left out: npm could not install it here. Its gate is not judged.')
  return undefined
}

/** OpenAPI files of about the size of our documents. */
function writeOpenApi(directory: string, count: number): void {
  mkdirSync(directory, { recursive: true })
  for (let at = 0; at < count; at++)
    writeFileSync(
      join(directory, `api-${at}.yaml`),
      `openapi: 3.1.0\ninfo:\n  title: Accounts ${at}\n  version: 1.2.0\n  license: { name: MIT, identifier: MIT }\nservers:\n  - url: https://accounts${at}.example\nsecurity:\n  - key: []\npaths:\n  /bookings:\n    post:\n      operationId: book\n      summary: Books an amount\n      requestBody:\n        content:\n          application/json:\n            schema: { $ref: '#/components/schemas/Booking' }\n      responses:\n        '200':\n          description: Booked\n          content:\n            application/json:\n              schema:\n                type: object\n                required: [booking]\n                properties:\n                  booking: { type: string }\n        '400': { description: Refused }\ncomponents:\n  securitySchemes:\n    key: { type: apiKey, in: header, name: x-api-key }\n  schemas:\n    Booking:\n      type: object\n      required: [order, amount, currency]\n      properties:\n        order: { type: string, minLength: 1 }\n        amount: { type: number, exclusiveMinimum: 0 }\n        currency: { type: string, enum: [EUR, USD, CHF] }\n        reason: { type: string, maxLength: 400 }\n`,
    )
}

const script = (name: string, text: string): string => {
  const file = join(work, name)
  writeFileSync(file, text)
  return file
}
const walk = `import { readdirSync, readFileSync } from 'node:fs'
const texts = readdirSync(process.argv[2], { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).map((each) => readFileSync(each.parentPath + '/' + each.name, 'utf8'))
`
const reading = script('read.mjs', walk)
const yaml = createRequire(import.meta.url).resolve('yaml')
const parsing = script(
  'parse.mjs',
  `${walk}import yaml from ${JSON.stringify(yaml)}
for (const text of texts) yaml.parseDocument(text).toJS()
`,
)

const one = join(work, 'one')
mkdirSync(one)
const tool = join(one, 'tool.yaml')
copyFileSync(
  writeCorpus(join(work, 'twenty'), 20).find((path) => path.endsWith('tool-0.yaml'))!,
  tool,
)
const starts = compare('Start (G14)', [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'svc --version', args: [SVC, '--version'] },
  { name: 'svc --help', args: [SVC, '--help'] },
  { name: 'svc lint, one file', args: [SVC, 'lint', tool], mayFail: true },
])
console.log('')
gate('G14', starts, 'svc --version', 1.5, 'node -e 0')
gate('G14', starts, 'svc --help', 2, 'node -e 0')
gate('G14', starts, 'svc lint, one file', 3, 'node -e 0')

const others = install()
/** Milliseconds that so many documents may take on a quiet machine. Source: docs/design/lint.md#speed */
const MOST_MS = new Map([
  [20, 150],
  [200, 500],
  [1000, 1500],
  [5000, 6000],
])
const MOST_MIB = 256
for (const size of sizes) {
  const directory = join(work, `c${size}`)
  writeCorpus(directory, size)
  if (others !== undefined) writeOpenApi(join(work, `o${size}`), size)
  const times = compare(
    `${size} documents (G15)`,
    [
      { name: 'reading the files', args: [reading, directory] },
      { name: 'yaml, parse only', args: [parsing, directory] },
      { name: 'svc lint', args: [SVC, 'lint', '-C', directory], mayFail: true },
      ...(others === undefined
        ? []
        : [
            {
              name: '@redocly/cli, OpenAPI files',
              args: [join(others, '@redocly/cli/bin/cli.js'), 'lint', `${join(work, `o${size}`)}/*.yaml`],
              mayFail: true,
            },
          ]),
    ],
    size,
  )
  console.log('')
  gate('G15', times, 'svc lint', 1, '@redocly/cli, OpenAPI files')
  const { ms, mib } = times.get('svc lint')!
  const held = ms <= (MOST_MS.get(size) ?? Infinity) && mib <= MOST_MIB
  if (!held) process.exitCode = 1
  console.log(
    `G15: svc lint: ${ms.toFixed(0)} ms, at most ${MOST_MS.get(size) ?? 'any'}; ${mib.toFixed(0)} MiB, at most ${MOST_MIB}${held ? '' : ': MISSED'}`,
  )
}
