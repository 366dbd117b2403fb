import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '../../base/failure.ts'

/**
 * Scenario files at the paths, sorted by name. A path to a file is taken whatever its name; in directories only
 * `*.scenario.yaml` counts, without `node_modules` and dot directories.
 * @throws Failure `not_found`
 */
export async function findScenarios(paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of paths) {
    const stats = await stat(path).catch(() => undefined)
    if (!stats) throw fail('not_found', { what: path })
    found.push(...(stats.isDirectory() ? await filesBelow(path, /\.scenario\.ya?ml$/) : [path]))
  }
  if (found.length === 0)
    throw fail(
      'not_found',
      { what: 'scenario' },
      { fix: 'Write one as NAME.scenario.yaml; svc schema scenario shows its format.' },
    )
  return [...new Set(found)]
}

/** Files whose names match, sorted, without `node_modules` and dot directories. */
export async function filesBelow(directory: string, pattern: RegExp): Promise<string[]> {
  const entries = (await readdir(directory, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  const found: string[] = []
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (entry.isFile() && pattern.test(entry.name)) found.push(path)
    else if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      found.push(...(await filesBelow(path, pattern)))
  }
  return found
}
