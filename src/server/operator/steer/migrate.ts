/** `svc runs migrate`: a waiting run moves to a version whose authority is equal or tighter. Source: docs/design/steering.md#migrate */
import { fail } from '../../../base/failure.ts'
import { findLooserCalls } from '../../runtime/authority.ts'
import { findAgent, findRun, findVersion } from '../find/find.ts'
import type { OperatorAction } from '../people/act.ts'
import { refuseYankedExecution } from './resume.ts'
import { describeRun } from '../../acts/act-subjects.ts'
import { toRunView } from '../runs.ts'

export const migrateRun: OperatorAction<'POST /runs/:id/migrate'> = async ({ services, operator, id, body, act }) => {
  const { store, engine, log } = services
  const run = await findRun(services, id)
  const version = await findVersion(services, await findAgent(services, run.agentId), body.version)
  const { snapshot } = version
  if (version.id === run.agentVersionId) return { ...(await toRunView(services, run)), changed: false }
  refuseYankedExecution(version, 'Name another version.')
  const own = await store.version(run.agentVersionId)
  if (!own)
    throw fail(
      'version_gone',
      { runId: run.id, version: run.versionLabel },
      { fix: 'Cancel the run, and resume it with svc runs resume RUN --with-version V.' },
    )
  const looser = await findLooserCalls(services, own.snapshot, snapshot)
  if (looser) throw fail('migration_widens', { version: snapshot.version, from: run.versionLabel, changes: looser })
  const { reason } = body
  const moved = act('run.migrated', {
    subject: describeRun(run),
    reason,
    run,
    before: { version: run.versionLabel },
    after: { version: snapshot.version },
  })
  await engine.migrate(run.id, { by: operator, version, ...(reason !== undefined && { reason }), act: moved })
  log.write('info', 'A run was moved to another version.', { runId: run.id, version: snapshot.version })
  return { ...(await toRunView(services, await findRun(services, run.id))), changed: true }
}
