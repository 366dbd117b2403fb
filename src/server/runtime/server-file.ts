/** `server.json`: how the commands of this machine find the server that holds a data directory. */
import { rename, rm, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ServerFileContents {
  readonly pid: number
  readonly url: string
  readonly uploadUrl: string
  readonly consoleUrl: string | null
  readonly adminSocket: string
}

export async function writeServerFile(directory: string, content: ServerFileContents): Promise<void> {
  const path = join(directory, 'server.json')
  // Renamed into place, so that readers never see a partial file.
  await writeFile(`${path}.new`, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

export const removeServerFile = (directory: string): Promise<void> =>
  rm(join(directory, 'server.json'), { force: true })

/** Bytes that the address of a Unix socket may have on every system we run on (macOS: 104 with the final NUL). */
const LONGEST_SOCKET_PATH = 103

/** `admin.sock` in the data directory, or below the system's temporary directory where that path would be too long. */
export function adminSocketOf(directory: string): string {
  const path = join(directory, 'admin.sock')
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path
  return join(tmpdir(), `svc-${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`, 'admin.sock')
}
