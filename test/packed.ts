/** The package as npm packs it, unpacked outside the checkout: what a user runs. Packed at most once per worker of a test run. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

/** Set by `test/setup.ts`, which also removes the directory. */
const DIRECTORY = 'SVC_TEST_PACKED'

export interface PackedPackage {
  /** The archive that `npm pack` wrote. */
  readonly archive: string
  /** Holds `@svc-agents/cli` and links to its dependencies, and nothing that only development needs. */
  readonly modules: string
  /** Program of the command. */
  readonly program: string
  /** Paths in the archive. */
  readonly files: readonly string[]
}

/** @returns removes what was packed */
export function openPackedDirectory(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'svc-packed-'))
  process.env[DIRECTORY] = directory
  return () => rmSync(directory, { recursive: true, force: true })
}

export function packPackage(): PackedPackage {
  const directory = process.env[DIRECTORY]!
  const ready = join(directory, 'ready')
  if (!existsSync(ready)) packInto(directory, ready)
  const files = JSON.parse(readFileSync(join(ready, 'files.json'), 'utf8')) as string[]
  const archive = readdirSync(ready).find((name) => name.endsWith('.tgz'))!
  const modules = join(ready, 'node_modules')
  return {
    archive: join(ready, archive),
    modules,
    program: join(modules, '@svc-agents/cli/bin/svc.js'),
    files,
  }
}

function packInto(directory: string, ready: string): void {
  const work = mkdtempSync(join(directory, 'work-'))
  // Without scripts: `prepare` would build what other tests are running.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', work]
  const [packed] = JSON.parse(
    execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as [{ filename: string; files: { path: string }[] }]
  writeFileSync(join(work, 'files.json'), JSON.stringify(packed.files.map(({ path }) => path)))
  const modules = join(work, 'node_modules')
  linkDependencies(modules)
  const home = join(modules, '@svc-agents/cli')
  mkdirSync(home, { recursive: true })
  execFileSync('tar', ['-xzf', join(work, packed.filename), '--strip-components=1', '-C', home])
  try {
    renameSync(work, ready)
  } catch {
    // Another worker was faster.
    rmSync(work, { recursive: true, force: true })
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
