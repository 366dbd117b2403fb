/** Free space on the disk of a data directory. */
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { formatSize } from '../files/size.ts'
import { healthy, unhealthy, type DoctorFinding } from './finding.ts'

/** Below this a server would soon run out of space. */
const LEAST_FREE_BYTES = 256 * 1024 * 1024

/** @param path may not exist yet */
export async function readFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(await existing(path))
  return bavail * bsize
}

export const spaceFinding = (free: number): DoctorFinding =>
  free >= LEAST_FREE_BYTES
    ? healthy(`${formatSize(free)} free`)
    : unhealthy(
        `${formatSize(free)} free where the data directory is, less than ${formatSize(LEAST_FREE_BYTES)}`,
        'Make room, or name another directory with --data.',
      )

/** The path itself, or its nearest existing ancestor. */
async function existing(path: string): Promise<string> {
  for (let at = path; ; at = dirname(at)) if ((await stat(at).catch(() => undefined)) || dirname(at) === at) return at
}
