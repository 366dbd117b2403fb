/**
 * The package as a user has it: packed by npm and installed by npm from the archive, outside the checkout, with an empty home. Packed
 * at most once per worker of a test run. Without a registry, links to the packages of the checkout stand in for what npm installs.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { removeDirectory } from './remove-directory.ts'

const ROOT = resolve(import.meta.dirname, '..')

/** Set by `test/setup.ts`. */
const DIRECTORY = 'SVC_TEST_PACKED'

/** Time for one call of npm, on a busy machine. */
const NPM_MS = 240_000

export interface PackedPackage {
  /** The archive that `npm pack` wrote. */
  readonly archive: string
  /** Where npm installed it: `npm install --global --prefix PREFIX`. */
  readonly prefix: string
  /** The package, with its dependencies in `node_modules`. */
  readonly directory: string
  /** Program of the command. */
  readonly program: string
  /** Paths in the archive. */
  readonly files: readonly string[]
  /** False where no registry can be reached: its dependencies are then links to those of the checkout. */
  readonly isInstalled: boolean
  /** What npm printed. */
  readonly printed: string
}

/** Makes the directory that all workers of a run share. */
export function openPackedDirectory(): void {
  process.env[DIRECTORY] = mkdtempSync(join(tmpdir(), 'svc-packed-'))
}

export function packPackage(): PackedPackage {
  const packed = process.env[DIRECTORY]!
  const ready = join(packed, 'ready')
  if (!existsSync(ready)) packInto(packed, ready)
  const about = JSON.parse(readFileSync(join(ready, 'about.json'), 'utf8')) as Pick<
    PackedPackage,
    'files' | 'isInstalled' | 'printed'
  >
  const prefix = join(ready, 'prefix')
  const directory = join(prefix, INSTALLED)
  return {
    ...about,
    archive: join(
      ready,
      readdirSync(ready).find((name) => name.endsWith('.tgz'))!,
    ),
    prefix,
    directory,
    program: join(directory, 'bin/svc.js'),
  }
}

const INSTALLED = 'lib/node_modules/@svc-agents/cli'

function packInto(packed: string, ready: string): void {
  const work = mkdtempSync(join(packed, 'work-'))
  // Without scripts: `prepare` would build what other tests are running.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', work]
  const [{ filename, files }] = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as [{ filename: string; files: { path: string }[] }]
  const prefix = join(work, 'prefix')
  const installed = npm(['install', '--global', '--prefix', prefix, join(work, filename)], work)
  const directory = join(prefix, INSTALLED)
  if (!installed.isReached) {
    process.stderr.write('npm reaches no registry: tests of the installation and of pipelines are skipped.\n')
    removeDirectory(prefix)
    mkdirSync(directory, { recursive: true })
    execFileSync('tar', ['-xzf', join(work, filename), '--strip-components=1', '-C', directory])
    linkDependencies(join(directory, 'node_modules'))
  }
  const about = {
    files: files.map(({ path }) => path),
    isInstalled: installed.isReached,
    printed: installed.printed,
  }
  writeFileSync(join(work, 'about.json'), JSON.stringify(about))
  try {
    renameSync(work, ready)
  } catch {
    // Another worker was faster.
    removeDirectory(work)
  }
}

/** What npm says where it reaches no registry, and has not all it needs in its cache. */
const UNREACHABLE =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ENOTCACHED|ERR_SOCKET_TIMEOUT)\b/

/**
 * Runs npm with an empty home and the packages that this machine has downloaded before.
 * @throws Error where npm fails for another reason than an unreachable registry
 */
export function npm(args: readonly string[], cwd: string): { readonly isReached: boolean; readonly printed: string } {
  const home = mkdtempSync(join(tmpdir(), 'svc-npm-'))
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd,
    encoding: 'utf8',
    timeout: NPM_MS,
    env: { ...npmEnvironment(), HOME: home },
  })
  removeDirectory(home)
  if (status === 0) return { isReached: true, printed: stdout + stderr }
  if (UNREACHABLE.test(stderr)) return { isReached: false, printed: stderr }
  throw new Error(`npm ${args.join(' ')} ended with ${status}.\n${stderr}`)
}

/** Settings of a user's shell. The cache and the registry of this machine count, its other settings do not. */
export function npmEnvironment(): Record<string, string> {
  const { npm_config_cache, HOME = '/', npm_config_registry, HTTPS_PROXY, NODE_EXTRA_CA_CERTS } = process.env
  const given = { npm_config_registry, HTTPS_PROXY, NODE_EXTRA_CA_CERTS }
  return {
    ...Object.fromEntries(Object.entries(given).filter((each): each is [string, string] => each[1] !== undefined)),
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    LANG: 'C.UTF-8',
    npm_config_cache: npm_config_cache ?? join(HOME, '.npm'),
    npm_config_prefer_offline: 'true',
    npm_config_fetch_retries: '0',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
}

/** Links each package that an installation without development dependencies has. */
function linkDependencies(modules: string): void {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean; link?: boolean }>
  }
  const names = Object.entries(packages).flatMap(([path, { dev, link }]) => {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1]
    return name === undefined || dev || link ? [] : [name]
  })
  for (const name of names) {
    const from = join(ROOT, 'node_modules', name)
    if (!existsSync(from)) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(from, join(modules, name))
  }
}
