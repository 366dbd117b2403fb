/** The program `svc` of a folder, and what it answers. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'

/** Time for a command, which may run all tests of a project. */
const TIMEOUT_MS = 600_000
/** Time to say its version. */
const START_MS = 20_000
/** Answers hold the events of each test. */
const MAX_BYTES = 256 * 1024 * 1024

const isWindows = process.platform === 'win32'

/** The setting, else the program that the folder installed, else the one on the PATH. */
export function programOf(folder: vscode.WorkspaceFolder): string {
  const set = vscode.workspace.getConfiguration('svc', folder).get<string>('path')
  if (set) return set
  const installed = join(folder.uri.fsPath, 'node_modules', '.bin', isWindows ? 'svc.cmd' : 'svc')
  return existsSync(installed) ? installed : 'svc'
}

/** @returns why the program of a folder cannot be started; undefined where it can */
export async function findFault(folder: vscode.WorkspaceFolder): Promise<string | undefined> {
  const program = programOf(folder)
  return await new Promise((resolve) => {
    execFile(program, ['--version'], { cwd: folder.uri.fsPath, timeout: START_MS, shell: isWindows }, (error) =>
      resolve(error ? `${program}: ${error.message.split('\n', 1)[0]}` : undefined),
    )
  })
}

/**
 * Runs a command with `--json` in a folder. An exit code that is not 0 is an answer too, where it printed one: failed tests exit with 1.
 * @throws Error with what the program said
 */
export async function ask<Answer>(
  folder: vscode.WorkspaceFolder,
  args: readonly string[],
  token?: vscode.CancellationToken,
): Promise<Answer> {
  const stop = new AbortController()
  token?.onCancellationRequested(() => stop.abort())
  const options = {
    cwd: folder.uri.fsPath,
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_BYTES,
    signal: stop.signal,
    shell: isWindows,
  }
  return await new Promise((resolve, reject) => {
    execFile(programOf(folder), [...args, '--json'], options, (error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as Answer)
      } catch {
        reject(new Error(describeFailure(stderr) || error?.message || 'svc printed no answer.'))
      }
    })
  })
}

/** The sentence of an error in JSON, or what stands there instead. */
function describeFailure(stderr: string): string {
  try {
    const { error } = JSON.parse(stderr) as { readonly error: { readonly message: string; readonly fix?: string } }
    return [error.message, error.fix].filter((part) => part !== undefined).join('\n')
  } catch {
    return stderr.trim()
  }
}
