/** What publishing a bundle would change in the published versions. Source: docs/design/bundles-and-authority.md#what-a-change-requires */
import { ancestorsOf } from '../../compile/ancestors.ts'
import { authorityMatrix } from '../../authority/matrix.ts'
import type { AuthorityRow } from '../../operations/versions.ts'
import {
  differenceOf,
  type VersionChange,
  type VersionDifference,
  type ChangeSeverity,
} from '../../authority/change.ts'
import { announcesChange, bumpBetween, leastVersion, requiredBump } from '../../compile/diff/bump.ts'
import { closureInBundle, loadClosure } from '../../authority/closure.ts'
import { findPredecessor } from '../../authority/predecessor.ts'
import { diffClosures } from '../../authority/diff.ts'
import { diffDocuments } from '../../compile/diff/document.ts'
import type { CompiledBundle, PublishedDocument, AgentSnapshot } from '../../spec/snapshot.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { lookupOf, versionViews } from '../project/registry.ts'

/** A member whose content is not published yet. */
export interface PlanStep {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  /** The version it is compared with; null for the first. */
  readonly from: string | null
  readonly to: string
  /** The smallest bump that the changes require; for 0.x, minor counts as major. */
  readonly required: ChangeSeverity | null
  /** The bump from `from` to `to`; null where the number does not rise. */
  readonly given: ChangeSeverity | null
  /** The smallest version that may carry them. */
  readonly least: string | null
  /** True where the version announces what changed. */
  readonly enough: boolean
  /** True where this very version is published with other content. */
  readonly taken: boolean
}

export interface PublishPlan extends Pick<VersionDifference, 'changes'> {
  readonly steps: readonly PlanStep[]
  /** Authority of agents that are published for the first time, which no difference shows. */
  readonly matrix: readonly { readonly agent: string; readonly rows: readonly AuthorityRow[] }[]
}

export async function planOf(operator: OperatorClient, bundle: CompiledBundle): Promise<PublishPlan> {
  const compared = [
    ...(await Promise.all(rootFirst(bundle).map((agent) => agentStep(operator, bundle, agent)))),
    ...(await Promise.all(bundle.documents.map((document) => documentStep(operator, document)))),
  ].filter((each) => each !== undefined)
  const documents = new Set(bundle.documents.map(({ id, kind }) => `${kind} ${id}`))
  // Changes of a document are reported through the agents that use it; without an agent, directly.
  const reported = compared.filter(({ step }) => bundle.root === undefined || !documents.has(`${step.kind} ${step.id}`))
  const { changes } = differenceOf(distinct(reported.flatMap(({ difference }) => difference?.changes ?? [])))
  return { changes, steps: compared.map(({ step }) => step), matrix: firstMatrix(bundle, compared) }
}

interface Compared {
  readonly step: PlanStep
  readonly difference?: VersionDifference
}

const firstMatrix = (bundle: CompiledBundle, compared: readonly Compared[]): PublishPlan['matrix'] =>
  rootFirst(bundle)
    .filter(({ id }) => compared.some(({ step }) => step.kind === 'Agent' && step.id === id && step.from === null))
    .map((agent) => ({ agent: agent.id, rows: authorityMatrix(agent, ancestorsOf(bundle, agent.id)) }))

const rootFirst = ({ agents, root }: CompiledBundle): readonly AgentSnapshot[] => [
  ...agents.filter(({ id }) => id === root),
  ...agents.filter(({ id }) => id !== root),
]

/** Undefined for a version that is published as it is. */
async function agentStep(
  operator: OperatorClient,
  bundle: CompiledBundle,
  agent: AgentSnapshot,
): Promise<Compared | undefined> {
  const views = await versionViews(operator, agent.id)
  const same = views.find(({ versionLabel }) => versionLabel === agent.version)
  if (same?.digest === agent.digest) return undefined
  const usable = views.filter(({ yanked }) => !yanked).map(({ versionLabel }) => versionLabel)
  const from = same ? agent.version : findPredecessor(usable, agent.version)
  const lookup = lookupOf(operator)
  const before = from === undefined ? undefined : await lookup.agent(agent.id, from)
  const difference =
    before &&
    diffClosures(
      await loadClosure(before, (id, version) => lookup.agent(id, version)),
      closureInBundle(bundle, agent.id),
    )
  return { step: stepOf('Agent', agent, from, difference, same !== undefined), ...(difference && { difference }) }
}

async function documentStep(operator: OperatorClient, document: PublishedDocument): Promise<Compared | undefined> {
  const { kind, id, version, digest } = document
  const { items } = await operator.call('GET /documents', { query: { kind, id } })
  const same = items.find((each) => each.version === version)
  if (same?.digest === digest) return undefined
  const usable = items.filter(({ yanked }) => yanked !== true).map((each) => each.version)
  const from = same ? version : findPredecessor(usable, version)
  const before = items.find((each) => each.version === from)
  const difference = before && diffDocuments(before, document)
  return { step: stepOf(kind, document, from, difference, same !== undefined), ...(difference && { difference }) }
}

function stepOf(
  kind: PlanStep['kind'],
  { id, version }: { readonly id: string; readonly version: string },
  from: string | undefined,
  difference: VersionDifference | undefined,
  taken: boolean,
): PlanStep {
  // Other content without a listed change still needs a new version.
  const change = difference ? (difference.required ?? 'patch') : null
  const required = from !== undefined && change ? requiredBump(from, change) : null
  return {
    kind,
    id,
    from: from ?? null,
    to: version,
    required,
    given: from === undefined ? null : bumpBetween(from, version),
    least: from !== undefined && required ? leastVersion(from, required) : null,
    enough: from === undefined || required === null || announcesChange(from, version, required),
    taken,
  }
}

const distinct = (changes: readonly VersionChange[]): readonly VersionChange[] => [
  ...new Map(changes.map((each) => [JSON.stringify(each), each])).values(),
]
