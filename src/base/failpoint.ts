/** True only in test builds (`node scripts/build.js --failpoints`); other builds contain none of this code. */
declare const SVC_FAILPOINTS: boolean | undefined

/** Points at which a test can make the process die. Source: docs/design/runs-and-recovery.md#in-the-code */
export type FailpointName =
  | 'commit.before'
  | 'commit.after'
  /** The dispatch record is durable, and nothing was sent. */
  | 'effect.afterDispatchRecord'
  /** The tool has answered, and only this process knows. */
  | 'effect.afterReply'
  /** The model has answered, and only this process knows. */
  | 'model.afterReply'
  /** A login to an MCP server is durable, and nobody was told. */
  | 'login.kept'
  /** Half of a chunk of events was sent to a reader. */
  | 'sse.midFrame'
  /** The object is at its final key, and its row is not updated yet. */
  | 'finalize.afterMove'

/**
 * Dies here as from `kill -9` if the variable `SVC_FAILPOINT` names this point: `effect.afterReply`, or
 * `effect.afterReply:3` for the third time that the process reaches it.
 */
export function dieAtFailpoint(name: FailpointName): void {
  if (typeof SVC_FAILPOINTS !== 'undefined' && SVC_FAILPOINTS && isReached(name)) process.kill(process.pid, 'SIGKILL')
}

/**
 * True if the variable `SVC_FAILPOINT` switches a guard off, as `guard.off` does: a test that then finds nothing wrong would not
 * find a guard that is broken.
 */
export const isSwitchedOff = (guard: 'guard'): boolean =>
  typeof SVC_FAILPOINTS !== 'undefined' && SVC_FAILPOINTS && process.env['SVC_FAILPOINT'] === `${guard}.off`

/** A failpoint within a write: the first half of the text is written and flushed before the process dies. */
export async function failpointWithin(name: FailpointName, text: string, write: (half: string) => void): Promise<void> {
  if (typeof SVC_FAILPOINTS !== 'undefined' && SVC_FAILPOINTS && isReached(name)) {
    write(text.slice(0, text.length / 2))
    for (let turn = 0; turn < TURNS_TO_LEAVE; turn++) await new Promise((resolve) => setImmediate(resolve))
    process.kill(process.pid, 'SIGKILL')
  }
}

/** Turns of the event loop until written text has reached the socket. */
const TURNS_TO_LEAVE = 100

function isReached(name: FailpointName): boolean {
  const [wanted, times = '1'] = (process.env['SVC_FAILPOINT'] ?? '').split(':')
  return wanted === name && ++passed === Number(times)
}
let passed = 0
