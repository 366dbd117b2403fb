/** What is signed about a publication. Source: docs/design/trust.md#statements */
import { toIsoText } from '../../base/clock.ts'
import { isFailure } from '../../base/failure.ts'
import { writeArchive, type ReadArchive } from '../../compile/package/archive.ts'
import { packBundle } from '../../compile/package/pack.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import { writePublication, type PublicationStatement, type StatedMember } from '../../spec/trust/statement.ts'
import type { BundleBuild } from '../release/build.ts'
import type { PublishPlan } from '../release/plan.ts'
import type { CommandContext } from '../shell/command.ts'
import { packageVersion } from '../shell/version.ts'
import { gitSourceOf } from './git-source.ts'

type Compiled = NonNullable<BundleBuild['compiled']>

/** A build, and the archive from which it was made, if it was. */
interface StatedBuild {
  readonly workspace: BundleBuild['workspace']
  readonly compiled: Compiled
  readonly archive?: Pick<ReadArchive, 'digest'> | undefined
}

/**
 * The statement about a build, ready to be signed.
 * @param plan what it changes; undefined where nobody knows what is published, so that it counts as wider
 */
export async function statePublication(
  { io, cwd }: Pick<CommandContext, 'io' | 'cwd'>,
  build: StatedBuild,
  bundle: CompiledBundle,
  plan: PublishPlan | undefined,
): Promise<Buffer> {
  const statement: PublicationStatement = {
    name: nameOf(bundle),
    closure: bundle.closureDigest,
    manifest: build.archive?.digest ?? (await manifestOf(build)),
    members: membersOf(bundle, build.compiled),
    widens: plan === undefined || widensOf(plan),
    compiler: packageVersion,
    source: await gitSourceOf(cwd),
    signedAt: toIsoText(io.clock.now()),
  }
  return writePublication(statement)
}

/** A first version may do all that it does for the first time. */
const widensOf = ({ steps, changes }: PublishPlan): boolean =>
  changes.some(({ widens }) => widens) || steps.some(({ kind, from }) => kind === 'Agent' && from === null)

function nameOf({ root, agents, documents }: CompiledBundle): string {
  const named = agents.find(({ id }) => id === root) ?? documents[0]
  return `${named?.id}@${named?.version}`
}

function membersOf({ agents, documents }: CompiledBundle, { lock }: Compiled): readonly StatedMember[] {
  const isKnown = (kind: string, id: string): boolean =>
    lock?.members.some((each) => each.kind === kind.toLowerCase() && each.id === id && each.origin === 'registry') ===
    true
  return [
    ...agents.map(({ id, version, digest }) => ({
      kind: 'Agent' as const,
      id,
      version,
      digest,
      isKnown: isKnown('Agent', id),
    })),
    ...documents.map(({ kind, id, version, digest }) => ({ kind, id, version, digest, isKnown: isKnown(kind, id) })),
  ]
}

/** Undefined where no archive can hold the files, which compiles all the same. */
async function manifestOf({
  workspace,
  compiled: { document, lock },
}: StatedBuild): Promise<PublicationStatement['manifest']> {
  if (document === undefined || lock === undefined) return null
  try {
    return (await writeArchive(packBundle(workspace, document, lock))).digest
  } catch (error) {
    if (isFailure(error, 'bundle_invalid')) return null
    throw error
  }
}
