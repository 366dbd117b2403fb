/**
 * All processes of a program that runs for long, as Linux shows them below /proc: what they take of memory, and those that left its
 * process group. Other systems show neither, and there only the group is ended.
 * Source: docs/design/models-and-tools.md#mcp-servers-as-programs
 */
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'

/** The variable that every process of a program inherits; its value is of one start of the program. */
export const PROGRAM_MARK = 'SVC_MCP_PROGRAM'

/** A process that forks while it is looked for may be missed once. */
const MOST_SEARCHES = 5

/** Kills every process of this user that has the mark, whatever its group and its parent are. */
export function killMarked(mark: string): void {
  const entry = `${PROGRAM_MARK}=${mark}`
  for (let search = 0; search < MOST_SEARCHES; search++) {
    const found = processIds().filter((pid) => pid !== process.pid && environmentOfProcess(pid).includes(entry))
    if (found.length === 0) return
    for (const pid of found) killProcess(pid)
  }
}

function processIds(): readonly number[] {
  if (process.platform !== 'linux') return []
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** Empty for a process of another user, and for one that has ended. */
function environmentOfProcess(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Bytes of main memory of a process and of all that it started; undefined where the system does not say. */
export async function memoryOfTree(pid: number): Promise<number | undefined> {
  let bytes: number | undefined
  const seen = new Set<number>()
  const open = [pid]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (seen.has(each)) continue
    seen.add(each)
    const [own, children] = await Promise.all([memoryOfProcess(each), childrenOf(each)])
    if (own !== undefined) bytes = (bytes ?? 0) + own
    open.push(...children)
  }
  return bytes
}

async function memoryOfProcess(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024
}

/** Each thread has children of its own. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  )
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number))
}
