/**
 * The golden files of a rule, `rules/<group>/<name>/`: a document that breaks it (`bad.yaml`), what `svc lint` prints for it
 * (`output.txt`), what `svc lint --fix` makes of it (`fixed.yaml`, where there is a safe fix) and one that keeps it (`good.yaml`).
 * An example of several files is a folder (`bad/`, `good/`, `fixed/` with the changed files only). Names of files are
 * percent-decoded: `%53ystem.md` is `System.md`, which some file systems cannot hold beside `system.md`.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { loadFiles, loadWorkspace } from '../../src/documents/workspace/load.ts'
import type { FileContents } from '../../src/documents/text/files.ts'
import type { Workspace } from '../../src/documents/workspace/workspace.ts'
import { removeDirectory } from '../remove-directory.ts'

export type ExampleName = 'bad' | 'good' | 'fixed'

const ROOT = join(import.meta.dirname, 'rules')

export const ruleFolder = (rule: string): string => join(ROOT, rule)

/** Ids of the rules that have a folder, sorted. */
export const rulesWithFolder = (root = ROOT): string[] =>
  readdirSync(root)
    .flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`))
    .sort()

/** Files by path; empty when the rule has no such example. Symbolic links are left out. */
export function readExample(rule: string, example: ExampleName): Record<string, Uint8Array> {
  const file = `${example}.yaml`
  if (existsSync(join(ruleFolder(rule), file))) return { [file]: readFileSync(join(ruleFolder(rule), file)) }
  const folder = join(ruleFolder(rule), example)
  if (!existsSync(folder)) return {}
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    paths
      .map((path) => join(folder, path))
      .filter((path) => lstatSync(path).isFile())
      .map((path) => [decodeURIComponent(relative(folder, path)).replaceAll('\\', '/'), readFileSync(path)]),
  )
}

/** The same as texts. */
export const readExampleTexts = (rule: string, example: ExampleName): Record<string, string> =>
  Object.fromEntries(
    Object.entries(readExample(rule, example)).map(([path, bytes]) => [path, Buffer.from(bytes).toString()]),
  )

/** @param overlay contents that replace files of the example */
export async function loadExample(rule: string, example: ExampleName, overlay: FileContents = {}): Promise<Workspace> {
  const folder = join(ruleFolder(rule), example)
  // Only a directory can hold symbolic links.
  if (rule === 'bundle/symlink') return await loadWorkspace(folder, { overlay })
  return loadFiles({ ...readExample(rule, example), ...overlay })
}

export const readOutput = (rule: string): string => readFileSync(join(ruleFolder(rule), 'output.txt'), 'utf8')

/** Rewrites the golden files that follow from the bad example. */
export function writeGolden(rule: string, output: string, fixed: Readonly<Record<string, string>>): void {
  const folder = ruleFolder(rule)
  writeFileSync(join(folder, 'output.txt'), output)
  for (const stale of ['fixed', 'fixed.yaml']) removeDirectory(join(folder, stale))
  for (const [path, text] of Object.entries(fixed)) {
    const file = join(folder, path === 'fixed.yaml' ? path : join('fixed', path))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}
