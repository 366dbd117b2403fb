/** Publishes work in progress: every save without errors becomes a version `-dev.N` and is deployed. */
import { digestOfJson } from '../../base/digest.ts'
import { writtenFilesOf } from '../../compile/package/sources.ts'
import { sortDiagnostics } from '../../documents/text/diagnostic.ts'
import type { VersionView } from '../../operations/versions.ts'
import type { CompiledBundle, JsonSchema } from '../../spec/snapshot.ts'
import { buildBundle, type BundleBuild } from './build.ts'
import { lateBoundOf, type LateBound } from './late-bound.ts'
import type { OperatorClient } from '../../client/operator.ts'
import type { Project } from '../project/project.ts'
import { versionViews } from '../project/registry.ts'
import { usageFailure } from '../../base/usage-failure.ts'

export interface SnapshotSave {
  readonly build: BundleBuild
  /** Absent when there are errors among the findings. */
  readonly saved?: SavedSnapshots
  /** Closures of the project's late-bound agents, deployed with it. */
  readonly lateBound: readonly CompiledBundle[]
  /** Digest of the documents with their own version, without `-dev.N`. */
  readonly digest?: string
}

export interface SavedSnapshots {
  readonly agent: string
  readonly version: string
  /** Model of the root agent, `provider/name`. */
  readonly model: string
  readonly inputContract: JsonSchema | undefined
  /** The documents equal what is deployed. */
  readonly unchanged: boolean
}

/**
 * @param before last save of this process; an unchanged save is recognized by it without compiling again
 * @throws Failure `no_documents`, `usage` where there is no agent to run
 */
export async function saveSnapshot(
  project: Project,
  path: string,
  operator: OperatorClient,
  before?: SnapshotSave,
): Promise<SnapshotSave> {
  const plain = await buildBundle({ project, path, operator })
  if (!plain.compiled?.bundle) return { build: plain, lateBound: [] }
  const { root } = plain.compiled.bundle
  if (root === undefined) throw usageFailure(`${path} holds no agent to run.`)
  const late = await lateBoundOf(plain)
  if (late.findings.some(({ severity }) => severity === 'error'))
    return withFindings({ build: { workspace: plain.workspace, findings: plain.findings }, lateBound: [] }, late)
  const all = [plain.compiled.bundle, ...late.bundles]
  const digest = digestOfJson(all.map(({ closureDigest }) => closureDigest))
  if (before?.saved && before.digest === digest) return { ...before, saved: { ...before.saved, unchanged: true } }
  const ids = [...new Set(all.flatMap(({ agents }) => agents.map(({ id }) => id)))]
  const histories = new Map(await Promise.all(ids.map(async (id) => [id, await versionViews(operator, id)] as const)))
  const last = Math.max(
    0,
    ...[...histories.values()].flat().map(({ versionLabel }) => Number(/[-.]dev\.(\d+)$/.exec(versionLabel)?.[1] ?? 0)),
  )
  if (last > 0 && !before) {
    const again = await numbered(plain, root, last)
    if (again.saved && bundlesOf(again).every((bundle) => isDeployed(bundle, histories)))
      return { ...again, digest, saved: { ...again.saved, unchanged: true } }
  }
  const next = await numbered(plain, root, last + 1)
  // Snapshots hold Tool and Policy documents by value; those are published only on request.
  // Late-bound agents first, so that nothing calls an agent that does not exist yet.
  const { workspace, compiled } = next.build
  for (const bundle of bundlesOf(next).reverse()) {
    const sources = writtenFilesOf(workspace, bundle, bundle === compiled?.bundle ? compiled : {})
    await operator.call('POST /publish', { body: { bundle: { ...bundle, documents: [] }, deploy: true, sources } })
  }
  return { ...next, digest }
}

/** The bundles to deploy together, the root's own closure first. */
export const bundlesOf = ({ build: { compiled }, lateBound }: SnapshotSave): CompiledBundle[] => [
  ...(compiled?.bundle ? [compiled.bundle] : []),
  ...lateBound,
]

function isDeployed({ root, agents }: CompiledBundle, histories: ReadonlyMap<string, readonly VersionView[]>): boolean {
  const snapshot = agents.find(({ id }) => id === root)
  return (histories.get(root ?? '') ?? []).some((each) => each.deployed && each.digest === snapshot?.digest)
}

const withFindings = (saving: SnapshotSave, { findings }: LateBound): SnapshotSave => ({
  ...saving,
  build: { ...saving.build, findings: sortDiagnostics([...saving.build.findings, ...findings]) },
})

async function numbered(plain: BundleBuild, root: string, number: number): Promise<SnapshotSave> {
  const built = (await plain.compileAs?.(`dev.${number}`)) ?? plain
  const snapshot = built.compiled?.bundle?.agents.find(({ id }) => id === root)
  if (!snapshot) return { build: built, lateBound: [] }
  const late = await lateBoundOf(built, `dev.${number}`)
  return withFindings(
    {
      build: built,
      lateBound: late.bundles,
      saved: {
        agent: root,
        version: snapshot.version,
        model: `${snapshot.model.provider}/${snapshot.model.name}`,
        inputContract: snapshot.inputContract,
        unchanged: false,
      },
    },
    late,
  )
}
