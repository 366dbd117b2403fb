/**
 * Where the process begins. The program is one file, and what V8 compiled of it is kept when a command has run, so that
 * the next start of that command reads what it would have to compile: half the time of a lint. Newer versions of Node
 * offer this for themselves (`module.enableCompileCache`), Node 20 does not. Source: performance, "What works", 6, and goals G8 and G14.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Script } from 'node:vm'
import type * as Helper from './lint-helper.ts'
import { endWithoutOutput } from './lost-output.ts'
import type * as Main from './main.ts'
import { tellVersion } from './version.ts'

/** Put in by the build: the names of the program's file and of that of a helping thread, which hold the digest of their content. */
declare const SVC_PROGRAM: string
declare const SVC_HELPER: string

export async function start(argv: readonly string[]): Promise<void> {
  const end = (code: number): void => {
    // What was written leaves before the process does; sockets that are kept for reuse must not hold it back.
    process.stdout.write('', (lost) => (lost ? endWithoutOutput(process.stdout.errored ?? lost) : process.exit(code)))
  }
  if (tellVersion(argv, process.stdout)) return end(0)
  const { exports: program, keep } = load<typeof Main>(SVC_PROGRAM, argv[0] ?? 'help')
  const code = await program.main(argv)
  // A page of help of a command has compiled next to nothing of it.
  if (code <= 1 && !argv.slice(1).some((word) => word === '--help' || word === '-h')) keep(program.wasLargeRun())
  end(code)
}

/** The same in a thread that helps another one to lint. */
export function help(): void {
  const { exports: helper, keep, isNew } = load<typeof Helper>(SVC_HELPER, 'lint')
  helper.help(isNew, keep)
}

interface Loaded<Exports> {
  readonly exports: Exports
  /** True where nothing was kept that could be used, and something may be. */
  readonly isNew: boolean
  /**
   * Keeps what was compiled until now, unless as much was read from there. Best effort: what cannot be written is compiled again.
   * @param wasLarge whether more was compiled than in most runs
   */
  readonly keep: (wasLarge?: boolean) => void
}

/**
 * @param program name of its file
 * @param word the command: each has compiled other parts of the program
 */
function load<Exports>(program: string, word: string): Loaded<Exports> {
  const file = join(__dirname, program)
  const usual = `${program}-${process.version}-${process.arch}-${word}.bin`
  const large = usual.replace(/\.bin$/, '-large.bin')
  const homes = /^[a-z-]+$/.test(word) && !process.env['NODE_DISABLE_COMPILE_CACHE'] ? homesOfCode() : []
  const [name, cachedData] = firstOf(homes, [large, usual]) ?? [usual]
  // The build writes ASCII, which is read in one go.
  const text = `(function (${PARAMETERS.join()}) { ${readFileSync(file, 'latin1')}\n})`
  const script = new Script(text, { filename: file, ...(cachedData && { cachedData }) })
  const module = { exports: {} as Exports }
  const svcImport = (name: string): Promise<unknown> => import(name)
  script.runInThisContext()(module.exports, createRequire(file), module, file, __dirname, svcImport)
  const isNew = homes.length > 0 && (cachedData === undefined || script.cachedDataRejected === true)
  return {
    // What a script exports is another object than it was given.
    exports: module.exports,
    isNew,
    keep(wasLarge = false) {
      const isLarger = wasLarge && name === usual
      if (isNew || isLarger) keepFirst(homes, isLarger ? large : name, script)
    },
  }
}

/** What Node gives to a CommonJS module, and what imports packages for it. */
const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname', 'svcImport']

/** Where compiled code may lie: beside the program, as Python does it, or where the package belongs to someone else, with the user's own caches. */
function homesOfCode(): readonly string[] {
  const { XDG_CACHE_HOME, HOME } = process.env
  const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'))
  return [join(__dirname, 'code'), ...(caches ? [join(caches, 'svc', 'code')] : [])].filter(isOwn)
}

/** What lies there will be executed: nobody else may be able to write it. A place that cannot be looked at is none. */
function isOwn(home: string): boolean {
  try {
    const { uid, mode } = statSync(home)
    return [process.getuid?.() ?? uid, 0].includes(uid) && (mode & 0o022) === 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** In the first of the places that can be written. */
function keepFirst(homes: readonly string[], name: string, script: Script): void {
  for (const home of homes) {
    const draft = join(home, `${process.pid}-${name}`)
    const kept = attempt(() => {
      mkdirSync(home, { recursive: true, mode: 0o700 })
      writeFileSync(draft, script.createCachedData(), { mode: 0o600 })
      renameSync(draft, join(home, name))
    })
    if (kept) return forgetOthers(home)
    attempt(() => rmSync(draft))
  }
}

/** What other versions of the program left there a month ago: a version that is still used writes it again. */
function forgetOthers(home: string): void {
  for (const name of readdirSync(home)) {
    const file = join(home, name)
    if (name.startsWith(SVC_PROGRAM) || name.startsWith(SVC_HELPER)) continue
    attempt(() => {
      if (Date.now() - statSync(file).mtimeMs > MONTH_MS) rmSync(file)
    })
  }
}

const MONTH_MS = 30 * 24 * 3_600_000

/** False when the file system refused. */
function attempt(act: () => void): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}

/** The first of the files that is there, with its name. */
function firstOf(homes: readonly string[], names: readonly string[]): readonly [string, Buffer] | undefined {
  for (const name of names)
    for (const home of homes) {
      const data = readIfThere(join(home, name))
      if (data !== undefined) return [name, data]
    }
  return undefined
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
