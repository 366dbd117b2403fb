// Builds the package of the client library (clients/typescript) into the directory that is named, or its own dist: a module for each
// source file, as it can be read, with its declarations and its source map.
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTool } from './tool.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const home = join(root, 'clients/typescript')

export function buildClient(out) {
  rmSync(out, { recursive: true, force: true })
  const status = runTool('tsc', '-p', join(home, 'tsconfig.build.json'), '--outDir', out)
  if (status !== 0) process.exit(status)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildClient(resolve(process.argv[2] ?? join(home, 'dist')))
