/**
 * The closure of agents: delegations without cycles, conflicting versions or conflicting secrets.
 * Source: docs/design/bundles-and-authority.md#references
 */
import { readAgentRef } from '../../documents/text/reference.ts'
import type { Document } from '../../documents/text/document.ts'
import type { AgentBinding } from '../../spec/document.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import {
  checkPinned,
  failUnchecked,
  idOfDocument,
  reportFinding,
  typedDocument,
  type BundleAgent,
  type DocumentPlace,
  type AgentTarget,
  type CompileState,
} from '../state/state.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** Default depth. Source: docs/design/models-and-tools.md#limits */
const DEFAULT_DEPTH = 5

export async function walkAgentGraph(state: CompileState): Promise<void> {
  const { subject } = state
  if (subject?.kind !== 'Agent') return
  const done = new Map<Document, BundleAgent>()
  const root = await visitAgent(state, subject, [], done)
  if (!root) return
  checkVersions(state)
  checkDepth(state, root)
  checkSecrets(state, root)
}

/** Depth first, so that each agent in `members` comes after those it delegates to. `path` has the ids from the root to here. */
async function visitAgent(
  state: CompileState,
  document: Document,
  path: readonly string[],
  done: Map<Document, BundleAgent>,
): Promise<BundleAgent | undefined> {
  const known = done.get(document)
  if (known) return known
  const agent = typedDocument(state, document, 'Agent')
  if (!agent) return undefined
  const member: BundleAgent = {
    document,
    agent,
    id: idOfDocument(document),
    edges: [],
    bindings: [],
    defaults: [],
    instructions: '',
  }
  done.set(document, member)
  for (const [index, binding] of (agent.spec.agents ?? []).entries()) {
    const at = { document, pointer: `/spec/agents/${index}/ref` }
    const target = await resolveEdge(state, binding, at, [...path, member.id], done)
    if (target) member.edges.push({ binding, at: { document, pointer: `/spec/agents/${index}` }, target, policies: [] })
  }
  state.members.push(member)
  return member
}

async function resolveEdge(
  state: CompileState,
  binding: AgentBinding,
  at: DocumentPlace,
  path: readonly string[],
  done: Map<Document, BundleAgent>,
): Promise<AgentTarget | undefined> {
  const ref = readAgentRef(binding.ref)
  if (binding.late_bound && ref.form === 'floating') return { at: 'late', id: ref.id }
  if (!binding.late_bound && ref.form === 'path') return resolvePathEdge(state, ref.path, at, path, done)
  if (!binding.late_bound && ref.form === 'pinned') return resolvePinnedEdge(state, ref.id, ref.version, at, path)
  return failUnchecked('subagent/ref-form', at)
}

async function resolvePathEdge(
  state: CompileState,
  written: string,
  at: DocumentPlace,
  path: readonly string[],
  done: Map<Document, BundleAgent>,
): Promise<AgentTarget | undefined> {
  const resolution = state.workspace.resolve(at.document, written)
  if (!('path' in resolution)) return failUnchecked('subagent/missing', at)
  const [document, ...others] = state.workspace.documentsAt(resolution.path).filter((each) => each.kind === 'Agent')
  if (!document) return failUnchecked('subagent/missing', at)
  if (others.length > 0)
    return reportFinding(state, 'subagent/missing', at, `${resolution.path} holds more than one Agent document.`)
  const id = idOfDocument(document)
  if (path.includes(id)) return reportCycle(state, at, path, id)
  const member = await visitAgent(state, document, path, done)
  return member && { at: 'local', member }
}

async function resolvePinnedEdge(
  state: CompileState,
  id: string,
  version: string,
  at: DocumentPlace,
  path: readonly string[],
): Promise<AgentTarget | undefined> {
  if (path.includes(id)) return reportCycle(state, at, path, id)
  const known = state.externals.get(`${id}@${version}`)
  const snapshot = known ?? (await state.published.agent(id, version))
  if (!snapshot) return reportFinding(state, 'subagent/missing', at, `${id}@${version} is not published.`)
  if (!known) checkPinned(state, 'Agent', snapshot, at)
  for (const child of snapshot.agents)
    if (
      !child.lateBound &&
      child.version !== undefined &&
      !(await resolvePinnedEdge(state, child.id, child.version, at, [...path, id]))
    )
      return undefined
  state.externals.set(`${id}@${version}`, snapshot)
  return { at: 'published', snapshot }
}

const reportCycle = (state: CompileState, at: DocumentPlace, path: readonly string[], id: string): undefined =>
  reportFinding(
    state,
    'subagent/cycle',
    at,
    `Agents delegate in a circle: ${[...path.slice(path.indexOf(id)), id].join(' -> ')}.`,
    {
      fix: 'Remove one of the edges, or make it late_bound: true.',
    },
  )

function checkVersions(state: CompileState): void {
  const versions = new Map<string, { readonly version: string; readonly where: string }>()
  const check = (id: string, version: string, where: string, at: DocumentPlace): void => {
    const known = versions.get(id)
    if (!known) versions.set(id, { version, where })
    else if (known.where !== where)
      reportFinding(
        state,
        'subagent/version-conflict',
        at,
        `${id} is in this bundle twice: ${known.version} (${known.where}) and ${version} (${where}).`,
      )
  }
  for (const { document, agent, id } of state.members)
    check(id, agent.metadata.version, document.path, { document, pointer: '/metadata/version' })
  for (const snapshot of state.externals.values())
    check(snapshot.id, snapshot.version, `published ${snapshot.version}`, pinnedAt(state, snapshot))
}

/** The first edge that leads to a published agent; for an agent reached through others, the edge of the root. */
function pinnedAt(state: CompileState, snapshot: AgentSnapshot): DocumentPlace {
  const edge = state.members
    .flatMap(({ edges }) => edges)
    .find(({ target }) => target.at === 'published' && target.snapshot === snapshot)
  if (edge) return { document: edge.at.document, pointer: `${edge.at.pointer}/ref` }
  return { document: expectDefined(state.subject, 'an agent leads to the snapshot'), pointer: '/spec/agents' }
}

function checkDepth(state: CompileState, root: BundleAgent): void {
  const allowed = root.agent.spec.limits?.max_subagent_depth ?? DEFAULT_DEPTH
  const longest = longestPath(state, { at: 'local', member: root }, new Map())
  if (longest.length - 1 > allowed)
    reportFinding(
      state,
      'limits/depth-exceeded',
      { document: root.document, pointer: '/spec/limits/max_subagent_depth' },
      `Delegation goes ${longest.length - 1} deep (${longest.join(' -> ')}), but max_subagent_depth is ${allowed}.`,
    )
}

/** Ids along the longest path down, starting with the target. */
function longestPath(
  state: CompileState,
  target: AgentTarget,
  known: Map<string, readonly string[]>,
): readonly string[] {
  if (target.at === 'late') return []
  const id = target.at === 'local' ? target.member.id : target.snapshot.id
  const found = known.get(id)
  if (found) return found
  const next: readonly AgentTarget[] =
    target.at === 'local'
      ? target.member.edges.map((edge) => edge.target)
      : target.snapshot.agents.flatMap((child): AgentTarget[] => {
          const snapshot = state.externals.get(`${child.id}@${child.version}`)
          return snapshot ? [{ at: 'published', snapshot }] : []
        })
  const longest = next
    .map((each) => longestPath(state, each, known))
    .reduce((a, b) => (b.length > a.length ? b : a), [])
  const path = [id, ...longest]
  known.set(id, path)
  return path
}

function checkSecrets(state: CompileState, root: BundleAgent): void {
  const variables = new Map<string, { readonly env: string; readonly agent: string }>()
  const check = (
    agent: string,
    secrets: Readonly<Record<string, { readonly fromEnv: string }>>,
    spotOf: (name: string) => DocumentPlace,
  ): void => {
    for (const [name, { fromEnv }] of Object.entries(secrets)) {
      const known = variables.get(name)
      if (!known) variables.set(name, { env: fromEnv, agent })
      else if (known.env !== fromEnv)
        reportFinding(
          state,
          'secret/conflict',
          spotOf(name),
          `The secret "${name}" is ${fromEnv} in ${agent} and ${known.env} in ${known.agent}.`,
          {
            fix: 'Give each variable a name of its own.',
          },
        )
    }
  }
  // Starts with the root, so that conflicts are reported against its meaning of a name.
  for (const { document, agent, id } of [root, ...state.members.filter((each) => each !== root)])
    check(id, agent.secrets ?? {}, (name) => ({ document, pointer: `/secrets/${name}/fromEnv` }))
  for (const snapshot of state.externals.values())
    check(`${snapshot.id}@${snapshot.version}`, snapshot.secrets, () => pinnedAt(state, snapshot))
}
