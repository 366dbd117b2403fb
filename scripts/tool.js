// Runs a program of scripts/tools with the arguments that follow its name: `node scripts/tool.js tsc -p .`. The first call installs them.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { installTools } from './tools.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = 'scripts/tools'
const PACKAGES = { knip: 'knip', oxfmt: 'oxfmt', oxlint: 'oxlint', tsc: 'typescript' }

// One of them looks for another on the PATH.
process.env.PATH = [join(root, FOLDER, 'node_modules/.bin'), process.env.PATH].join(delimiter)

/** The manifest of a package that is installed in the folder or above it. */
const manifestOf = (name) =>
  [FOLDER, '.'].map((each) => join(root, each, 'node_modules', name, 'package.json')).find(existsSync)

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))

export function installChecks() {
  return installTools(FOLDER)
}

/** The command that starts one of the programs, which are installed. */
export function commandOf(name) {
  const manifest = manifestOf(PACKAGES[name])
  return [process.execPath, join(dirname(manifest), read(manifest).bin[name])]
}

/** Runs a program to its end. @returns its exit status */
export function runTool(name, ...args) {
  if (!installChecks()) return 1
  const [command, ...before] = commandOf(name)
  return spawnSync(command, [...before, ...args], { stdio: 'inherit' }).status ?? 1
}

/** The formatter as a library. */
export async function loadFormatter() {
  if (!installChecks()) throw new Error('The formatter could not be installed.')
  const manifest = manifestOf('oxfmt')
  return await import(pathToFileURL(join(dirname(manifest), read(manifest).main)).href)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = runTool(...process.argv.slice(2))
