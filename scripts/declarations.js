// Writes the declarations of the library to the directory that is named: those that its users can reach, and none of the
// modules behind them.
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { runTool } from './tool.js'

const out = resolve(process.argv[2])
const status = runTool('tsc', '-p', 'tsconfig.build.json', '--outDir', out)
if (status !== 0) process.exit(status)

const reached = new Set()
const reach = (file) => {
  if (reached.has(file) || !existsSync(file)) return
  reached.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g))
    reach(resolve(dirname(file), path.replace(/(?:\.d)?\.[jt]s$/, '.d.ts')))
}
reach(join(out, 'index.d.ts'))

const written = readdirSync(out, { recursive: true }).map((path) => join(out, path))
for (const path of written) if (statSync(path).isFile() && !reached.has(path)) rmSync(path)
// The deepest first, so that a directory is empty when its turn comes.
for (const path of written.sort().reverse())
  if (existsSync(path) && statSync(path).isDirectory() && readdirSync(path).length === 0)
    rmSync(path, { recursive: true })
