/** What all programs that svc runs as tools have in common: their environment, their output, and their end. */
import type { ChildProcess } from 'node:child_process'
import { StringDecoder } from 'node:string_decoder'
import { cutText } from '../base/text/cut-text.ts'
import type { Redactor } from '../base/secret.ts'

export type ProgramProcess = Pick<ChildProcess, 'pid' | 'kill' | 'once' | 'stdout' | 'stderr'>

/** `node` is the one that runs svc, which need not be in the path. */
export const pathOfProgram = (name: string): string => (name === 'node' ? process.execPath : name)

const PASSED_VARIABLES = ['PATH', 'HOME', 'LANG', 'TZ', 'TMPDIR']
const PASSED_ON_WINDOWS = [
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'PATHEXT',
  'COMSPEC',
  'USERPROFILE',
  'TEMP',
  'TMP',
  'APPDATA',
  'LOCALAPPDATA',
]

/**
 * The environment of a program. Never contains the server's address or keys, even when the config names them: an agent that
 * could reach the server could approve its own calls.
 */
export function environmentOf(
  env: Readonly<Record<string, string | undefined>>,
  allow: readonly string[],
): Record<string, string> {
  const names = [
    ...PASSED_VARIABLES,
    ...(process.platform === 'win32' ? PASSED_ON_WINDOWS : []),
    ...allow.filter((name) => !name.startsWith('SVC_')),
  ]
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

/**
 * Signals the process group, which exists as long as any of its processes, even when the program itself has exited. The program must
 * have been started with `detached`.
 */
export function signalGroup(child: Pick<ChildProcess, 'pid' | 'kill'>, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    if (process.platform === 'win32') child.kill(signal)
    else process.kill(-child.pid, signal)
  } catch {
    // All processes of the group have exited (ESRCH), or run as another user (EPERM).
  }
}

export function closeOutput({ stdout, stderr }: ProgramProcess): void {
  stdout?.destroy()
  stderr?.destroy()
}

export type ProgramOutput = NodeJS.ReadableStream | null | undefined

/** Keeps the last characters. They are redacted before they are cut: the rest of half a secret would not be recognized. */
export function collectTail(stream: ProgramOutput, most: number, redactor: Redactor): () => string {
  const decoder = new StringDecoder('utf8')
  const redacted = redactor.stream()
  let tail = ''
  stream?.on('data', (chunk: Buffer) => {
    tail = cutText(tail + redacted.push(decoder.write(chunk)), most, 'end').text
  })
  return () => {
    tail = cutText(tail + redacted.push(decoder.end()) + redacted.end(), most, 'end').text
    return tail
  }
}
