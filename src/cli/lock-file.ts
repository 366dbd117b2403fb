/** `svc.lock` of what was built. Source: bundles, section 3. */
import { join, relative } from 'node:path'
import { fail } from '../base/failure.ts'
import { lockDrift, lockPathOf } from '../compile/lock-file.ts'
import type { Build } from './build.ts'

/** Absolute. */
export const lockFileOf = ({ workspace, compiled }: Build): string =>
  join(workspace.root, lockPathOf(compiled?.document ?? ''))

/**
 * The lock is what the documents compile to.
 * @param built without errors
 * @param cwd from which people see its path
 * @throws Failure `lock_drift`, with each member that differs
 */
export function checkDrift(built: Build, cwd: string): void {
  const { locked, lock } = built.compiled ?? {}
  const path = relative(cwd, lockFileOf(built))
  if (!locked) throw fail('lock_drift', { what: `There is no ${path}.` })
  const drift = lock ? lockDrift(locked, lock) : []
  if (drift.length > 0)
    throw fail(
      'lock_drift',
      { what: `${path} is not what the documents compile to.` },
      { details: drift.map((message) => ({ path, message })) },
    )
}
