// Writes the declarations of the library to the directory that is named: those that its users can reach, and none of the
// modules behind them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { runTool } from './tool.js'

const out = resolve(process.argv[2])
const whole = `${out}-whole`
process.on('exit', () => rmSync(whole, { recursive: true, force: true }))
const status = runTool('tsc', '-p', 'tsconfig.build.json', '--outDir', whole)
if (status !== 0) process.exit(status)

const reached = new Set()
const reach = (file) => {
  if (reached.has(file) || !existsSync(file)) return
  reached.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g))
    reach(resolve(dirname(file), path.replace(/(?:\.d)?\.[jt]s$/, '.d.ts')))
}
const src = join(whole, 'src')
reach(join(src, 'index.d.ts'))

for (const file of reached) {
  const name = relative(src, file)
  // Those of the client library have a build of their own, which stands beside these as `client`.
  if (name.startsWith('..')) continue
  mkdirSync(dirname(join(out, name)), { recursive: true })
  const text = readFileSync(file, 'utf8')
  writeFileSync(join(out, name), text.replaceAll(/\.\.\/(\.\.\/|)clients\/typescript\/src\//g, '$1client/'))
}
