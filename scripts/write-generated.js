// Writes a file that is generated and kept in the repository. With --check it writes nothing: it names the file on the standard error
// if it is out of date, and the script ends with 1.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @param {string} path relative to the repository */
export function writeGenerated(path, text) {
  const file = join(root, path)
  if (!process.argv.includes('--check')) {
    mkdirSync(dirname(file), { recursive: true })
    return writeFileSync(file, text)
  }
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  process.stderr.write(`${path} is out of date: npm run generate\n`)
  process.exitCode = 1
}
