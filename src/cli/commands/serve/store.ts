/** `svc store`: the database that several servers share. */
import { openProject, type Project } from '../../project/project.ts'
import { readStoreUrl } from '../../project/store-url.ts'
import type { migrateAnswer } from '../../answers/serve.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { CommandContext } from '../../shell/command.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

/** @throws Failure `usage`, `store_unreachable`, `store_unreadable`, `store_rights_missing` */
export async function migrate(call: CommandContext<ValueOf<typeof migrateAnswer>>): Promise<void> {
  const { mode, out, given } = call
  const project = await openProject(call)
  const url = storeOf(call, project)
  const { migrateDatabase } = await import('../../../store/postgres/migrate-database.ts')
  const bucket = given.text('storage') ?? project.config.storage?.url
  if (bucket !== undefined && !bucket.startsWith('s3://'))
    throw usageFailure(`${bucket} is no bucket.`, '--storage s3://bucket[?endpoint=…]')
  const claim = given.flag('claim') ? { workspace: project.workspace, bucket } : undefined
  const { database, from, to } = await migrateDatabase(url, undefined, claim)
  if (mode.json) return await out.json({ database, from, to })
  out.line(from === to ? `${database} has schema ${to}` : `migrated ${database} from schema ${from} to ${to}`)
  if (!claim) return
  const { describeBucket } = await import('../../../store/postgres/cluster/identity.ts')
  const files = bucket === undefined ? 'the bucket of its next server' : describeBucket(bucket)
  out.message(`it belongs to the workspace ${claim.workspace}, and to ${files}`)
}

function storeOf({ given }: Pick<CommandContext, 'given'>, project: Project): string {
  const url = readStoreUrl(given.text('store')) ?? project.store
  if (url === undefined)
    throw usageFailure(
      'There is no database to migrate: the one of the data directory migrates itself.',
      'svc store migrate --store postgres://user@host/database, or SVC_STORE',
    )
  return url
}
