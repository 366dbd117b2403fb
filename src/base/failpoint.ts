/** Set to true in the build for tests alone (`node scripts/build.js --failpoints`); in every other nothing of this is left. */
declare const SVC_FAILPOINTS: boolean | undefined

/** Where a process can be made to die. Source: reliability, "Test ladder to build". */
export type Failpoint =
  | 'commit.before'
  | 'commit.after'
  /** The dispatch record is durable, and nothing has left. */
  | 'effect.afterDispatchRecord'
  /** The tool has answered, and nobody but this process knows. */
  | 'effect.afterReply'
  /** The same of a model. */
  | 'model.afterReply'
  /** The object is at its final place, and its row does not say so. */
  | 'finalize.afterMove'

/**
 * Dies here as from `kill -9`, where the variable `SVC_FAILPOINT` says so: `effect.afterReply`, or `effect.afterReply:3` for
 * the third time that the process comes by.
 */
export function failpoint(name: Failpoint): void {
  if (typeof SVC_FAILPOINTS === 'undefined' || !SVC_FAILPOINTS) return
  const [wanted, times = '1'] = (process.env['SVC_FAILPOINT'] ?? '').split(':')
  if (wanted === name && ++passed === Number(times)) process.kill(process.pid, 'SIGKILL')
}
let passed = 0
