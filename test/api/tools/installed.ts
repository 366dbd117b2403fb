/**
 * Programs of others that some tests need. They are large, so those tests are skipped where they are not installed:
 * `npm install --prefix test/api/tools --ignore-scripts --no-package-lock`.
 */
import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../../..')
export const MODULES = join(import.meta.dirname, 'node_modules')

export const hasTools = existsSync(MODULES)

/** A program of the installed packages. */
export const toolPath = (name: string): string => join(MODULES, '.bin', name)

const answers = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0

export const hasGo = answers('go', 'version')
export const hasJava = answers('java', '-version')
/** A Python with what generated clients import. */
export const python = ['python3', '/usr/bin/python3'].find((each) =>
  answers(each, '-c', 'import urllib3, dateutil, six, certifi'),
)

export interface Ended {
  readonly status: number
  /** What it printed, errors included. */
  readonly output: string
}

/** Runs a program while this process goes on serving it. */
export const execute = (
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Ended> =>
  new Promise((done) => {
    const env = { ...process.env, ...options.env }
    execFile(command, args, { ...options, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      done({ status, output: stdout + stderr })
    })
  })
