/** Set to true in the build for tests alone (`node scripts/build.js --failpoints`); in every other nothing of this is left. */
declare const SVC_FAILPOINTS: boolean | undefined

/** Where a process can be made to die. Source: reliability, "Test ladder to build". */
export type FailpointName =
  | 'commit.before'
  | 'commit.after'
  /** The dispatch record is durable, and nothing has left. */
  | 'effect.afterDispatchRecord'
  /** The tool has answered, and nobody but this process knows. */
  | 'effect.afterReply'
  /** The same of a model. */
  | 'model.afterReply'
  /** Half of what a reader of events is sent has left. */
  | 'sse.midFrame'
  /** The object is at its final place, and its row does not say so. */
  | 'finalize.afterMove'

/**
 * Dies here as from `kill -9`, where the variable `SVC_FAILPOINT` says so: `effect.afterReply`, or `effect.afterReply:3` for
 * the third time that the process comes by.
 */
export function dieAtFailpoint(name: FailpointName): void {
  if (typeof SVC_FAILPOINTS !== 'undefined' && SVC_FAILPOINTS && isReached(name)) process.kill(process.pid, 'SIGKILL')
}

/** The same where a text is sent: its first half is written, and has time to leave, before the process dies. */
export async function failpointWithin(name: FailpointName, text: string, write: (half: string) => void): Promise<void> {
  if (typeof SVC_FAILPOINTS !== 'undefined' && SVC_FAILPOINTS && isReached(name)) {
    write(text.slice(0, text.length / 2))
    for (let turn = 0; turn < TURNS_TO_LEAVE; turn++) await new Promise((resolve) => setImmediate(resolve))
    process.kill(process.pid, 'SIGKILL')
  }
}

/** Turns of the event loop in which what was written reaches the socket. */
const TURNS_TO_LEAVE = 100

function isReached(name: FailpointName): boolean {
  const [wanted, times = '1'] = (process.env['SVC_FAILPOINT'] ?? '').split(':')
  return wanted === name && ++passed === Number(times)
}
let passed = 0
