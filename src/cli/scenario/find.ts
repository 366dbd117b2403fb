import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fail } from '../../base/failure.ts'

/**
 * Scenario files at the paths, in order of their names. A file that is named is taken whatever its name is; in directories
 * it is `*.scenario.yaml`, with packages and dot directories left out.
 * @throws Failure `not_found`
 */
export async function findScenarios(paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of paths) {
    const there = await stat(path).catch(() => undefined)
    if (!there) throw fail('not_found', { what: path })
    found.push(...(there.isDirectory() ? await filesBelow(path, /\.scenario\.ya?ml$/) : [path]))
  }
  if (found.length === 0)
    throw fail(
      'not_found',
      { what: 'scenario' },
      { fix: 'Write one as NAME.scenario.yaml; svc schema scenario tells how.' },
    )
  return [...new Set(found)]
}

/** Files whose names match, in order of their names; packages and dot directories are left out. */
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
