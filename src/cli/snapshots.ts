/** Publishing what is being written: every clean save becomes a version `-dev.N` of its own, and the deployed one. */
import { fail } from '../base/failure.ts'
import type { VersionView } from '../spec/operator.ts'
import { build, type Build } from './build.ts'
import type { Operator } from './operator.ts'
import type { Project } from './project.ts'
import { RemoteError } from './remote.ts'

export interface Saving {
  readonly build: Build
  /** Absent when there are errors among the findings. */
  readonly saved?: Saved
  /** Of the documents as they are, without a number of ours. */
  readonly digest?: string
}

export interface Saved {
  readonly agent: string
  readonly version: string
  /** Model of the root agent, `provider/name`. */
  readonly model: string
  readonly inputContract: unknown
  /** The documents say what is deployed already. */
  readonly unchanged: boolean
}

/**
 * @param before what this process saved last, with which a save that changes nothing is known without compiling again
 * @throws Failure `no_documents`, `usage` where there is no agent to run
 */
export async function saveSnapshot(
  project: Project,
  path: string,
  operator: Operator,
  before?: Saving,
): Promise<Saving> {
  const plain = await build({ project, path, operator })
  if (!plain.compiled?.bundle) return { build: plain }
  const { root, agents, closureDigest: digest } = plain.compiled.bundle
  if (root === undefined) throw fail('usage', { what: `${path} holds no agent to run.` })
  if (before?.saved && before.digest === digest) return { ...before, saved: { ...before.saved, unchanged: true } }
  const histories = await Promise.all(agents.map(({ id }) => versionsOf(operator, id)))
  const last = Math.max(
    0,
    ...histories.flat().map(({ versionLabel }) => Number(/[-.]dev\.(\d+)$/.exec(versionLabel)?.[1] ?? 0)),
  )
  if (last > 0 && !before) {
    const history = histories[agents.findIndex(({ id }) => id === root)] ?? []
    const again = await numbered(plain, root, last)
    const snapshot = again.build.compiled?.bundle?.agents.find(({ id }) => id === root)
    if (again.saved && history.some((each) => each.deployed && each.digest === snapshot?.digest))
      return { ...again, digest, saved: { ...again.saved, unchanged: true } }
  }
  const next = await numbered(plain, root, last + 1)
  // Its parts are in the snapshot by value: Tool and Policy documents are only published when a person says so.
  const bundle = next.build.compiled?.bundle
  if (bundle) await operator.call('POST /publish', { body: { bundle: { ...bundle, documents: [] }, deploy: true } })
  return { ...next, digest }
}

async function numbered(plain: Build, root: string, number: number): Promise<Saving> {
  const built = (await plain.as?.(`dev.${number}`)) ?? plain
  const snapshot = built.compiled?.bundle?.agents.find(({ id }) => id === root)
  if (!snapshot) return { build: built }
  return {
    build: built,
    saved: {
      agent: root,
      version: snapshot.version,
      model: `${snapshot.model.provider}/${snapshot.model.name}`,
      inputContract: snapshot.inputContract,
      unchanged: false,
    },
  }
}

async function versionsOf(operator: Operator, agent: string): Promise<readonly VersionView[]> {
  try {
    return (await operator.call('GET /versions', { query: { agent } })).items
  } catch (error) {
    if (error instanceof RemoteError && error.status === 404) return []
    throw error
  }
}
