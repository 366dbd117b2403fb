/**
 * Where temporary files of a test run are: in memory where the machine has room, so that a test that stores something waits for no disk.
 * Tests end processes and never the machine, so a write means the same there. All of them are removed together at the end.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDirectory } from './remove-directory.ts'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 1024 ** 3
const NAME = 'svc-tests-'

/** @returns removes the directory with all that tests left in it */
export function openTemporaryDirectory(): () => void {
  const parent = hasRoom(MEMORY) ? MEMORY : tmpdir()
  removeAbandoned(parent)
  const directory = mkdtempSync(join(parent, `${NAME}${process.pid}-`))
  // As the system's: programs that tests start have other users too.
  chmodSync(directory, 0o1777)
  process.env['TMPDIR'] = directory
  return () => removeDirectory(directory)
}

function hasRoom(path: string): boolean {
  if (!existsSync(path)) return false
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize >= ROOM_BYTES
}

/** Removes what runs left behind that were killed. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(NAME) ? Number.parseInt(name.slice(NAME.length)) : process.pid
    if (!isRunning(pid)) removeDirectory(join(parent, name))
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
