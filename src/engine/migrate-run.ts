/** Moves a waiting run to another version for an operator. Source: docs/design/steering.md#migrate */
import { fail } from '../base/failure.ts'
import type { RunId } from '../base/ids.ts'
import { approverOf } from '../spec/people/key.ts'
import type { SessionDriver } from './drive/drive.ts'
import { advanceRun } from './machine/advance.ts'
import { whyNotMovable } from './machine/migrate.ts'
import type { EngineParts, MigrationRequest } from './interface/engine.ts'

/** @throws Failure `not_found`, `not_a_root_run`, `run_not_movable` */
export async function migrateStoredRun(
  { store, redactor }: Pick<EngineParts, 'store' | 'redactor'>,
  driver: SessionDriver,
  runId: RunId,
  { by, reason, version, act }: MigrationRequest,
): Promise<void> {
  const stored = await store.run(runId)
  if (!stored) throw fail('not_found', { what: 'run' })
  const runs = await store.treesOf(stored.sessionId, [runId])
  const why = reason === undefined ? null : redactor.text(reason)
  const versions = [...runs.map(({ agentVersionId }) => agentVersionId), version.id]
  await driver.post(
    stored.sessionId,
    (tx) => {
      const run = tx.run(runId)
      if (run.record.parentRunId !== null) throw fail('not_a_root_run', { runId, rootRunId: tx.session.rootRunId })
      const obstacle = whyNotMovable(run)
      if (obstacle !== undefined) throw fail('run_not_movable', { runId, why: obstacle })
      tx.recordAct(act)
      advanceRun(run, { type: 'migrated', version, by: approverOf(by), reason: why })
    },
    { about: [runId], versions },
  )
}
