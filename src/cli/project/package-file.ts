import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Path of a file shipped in the package (`schemas/`, `templates/`), wherever the bundler put this module.
 * @param path relative to the package's root
 */
export function packageFile(path: string): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); dirname(at) !== at; at = dirname(at))
    if (existsSync(join(at, 'bin', 'svc.js')) && existsSync(join(at, 'package.json'))) return join(at, path)
  throw new Error('The package of this command is incomplete.')
}
