/** The closure of agents: who delegates to whom, without cycles, versions that differ and secrets that clash. Source: bundles, section 1. */
import { readAgentRef } from '../../documents/text/reference.ts'
import type { Document } from '../../documents/text/document.ts'
import type { AgentBinding } from '../../spec/document.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { whyNowhere } from '../state/refuse.ts'
import {
  checkPinned,
  idOfDocument,
  reportFinding,
  typedDocument,
  type BundleAgent,
  type DocumentPlace,
  type AgentTarget,
  type CompileState,
} from '../state/state.ts'

/** Where a document does not say. Source: authoring format, "Limits". */
const DEFAULT_DEPTH = 5

export async function walkAgentGraph(work: CompileState): Promise<void> {
  const { subject } = work
  if (subject?.kind !== 'Agent') return
  const done = new Map<Document, BundleAgent>()
  const root = await walk(work, subject, [], done)
  if (!root) return
  checkVersions(work)
  checkDepth(work, root)
  checkSecrets(work, root)
}

/** Depth first, so that `members` holds each agent after those it delegates to. `path` is the ids from the root to here. */
async function walk(
  work: CompileState,
  document: Document,
  path: readonly string[],
  done: Map<Document, BundleAgent>,
): Promise<BundleAgent | undefined> {
  const known = done.get(document)
  if (known) return known
  const agent = typedDocument(work, document, 'Agent')
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
    const target = await follow(work, binding, at, [...path, member.id], done)
    if (target) member.edges.push({ binding, at: { document, pointer: `/spec/agents/${index}` }, target, policies: [] })
  }
  work.members.push(member)
  return member
}

async function follow(
  work: CompileState,
  binding: AgentBinding,
  at: DocumentPlace,
  path: readonly string[],
  done: Map<Document, BundleAgent>,
): Promise<AgentTarget | undefined> {
  const ref = readAgentRef(binding.ref)
  if (binding.late_bound)
    return ref.form === 'floating'
      ? { at: 'late', id: ref.id }
      : reportFinding(
          work,
          'subagent/ref-form',
          at,
          `A late-bound agent is named by its id alone: namespace.name, not "${binding.ref}".`,
        )
  switch (ref.form) {
    case 'path':
      return followPath(work, ref.path, at, path, done)
    case 'pinned':
      return followPin(work, ref.id, ref.version, at, path)
    case 'range':
      return reportFinding(
        work,
        'subagent/range',
        at,
        `An agent outside the bundle is pinned to one version; "${ref.range}" is a range.`,
      )
    case 'floating':
      return reportFinding(
        work,
        work.workspace.find(at.document, 'Agent', ref.id).length > 0 ? 'subagent/ref-form' : 'bundle/external-unpinned',
        at,
        `"${binding.ref}" names no version.`,
        { fix: `Write ${ref.id}@1.2.3, or add late_bound: true.` },
      )
    default:
      return reportFinding(
        work,
        'subagent/ref-form',
        at,
        `"${binding.ref}" is neither a path, nor namespace.name@version, nor namespace.name with late_bound.`,
      )
  }
}

async function followPath(
  work: CompileState,
  written: string,
  at: DocumentPlace,
  path: readonly string[],
  done: Map<Document, BundleAgent>,
): Promise<AgentTarget | undefined> {
  const resolution = work.workspace.resolve(at.document, written)
  if (!('path' in resolution)) return reportFinding(work, 'subagent/missing', at, whyNowhere(written, resolution))
  const [document, ...others] = work.workspace.documentsAt(resolution.path).filter((each) => each.kind === 'Agent')
  if (!document) return reportFinding(work, 'subagent/missing', at, `${resolution.path} holds no Agent document.`)
  if (others.length > 0)
    return reportFinding(work, 'subagent/missing', at, `${resolution.path} holds more than one Agent document.`)
  const id = idOfDocument(document)
  if (path.includes(id)) return reportCycle(work, at, path, id)
  const member = await walk(work, document, path, done)
  return member && { at: 'local', member }
}

async function followPin(
  work: CompileState,
  id: string,
  version: string,
  at: DocumentPlace,
  path: readonly string[],
): Promise<AgentTarget | undefined> {
  if (path.includes(id)) return reportCycle(work, at, path, id)
  const known = work.externals.get(`${id}@${version}`)
  const snapshot = known ?? (await work.published.agent(id, version))
  if (!snapshot) return reportFinding(work, 'subagent/missing', at, `${id}@${version} is not published.`)
  if (!known) checkPinned(work, 'Agent', snapshot, at)
  for (const child of snapshot.agents)
    if (
      !child.lateBound &&
      child.version !== undefined &&
      !(await followPin(work, child.id, child.version, at, [...path, id]))
    )
      return undefined
  work.externals.set(`${id}@${version}`, snapshot)
  return { at: 'published', snapshot }
}

const reportCycle = (work: CompileState, at: DocumentPlace, path: readonly string[], id: string): undefined =>
  reportFinding(
    work,
    'subagent/cycle',
    at,
    `Agents delegate in a circle: ${[...path.slice(path.indexOf(id)), id].join(' -> ')}.`,
    {
      fix: 'Remove one of the edges, or make it late_bound: true.',
    },
  )

function checkVersions(work: CompileState): void {
  const versions = new Map<string, { readonly version: string; readonly where: string }>()
  const check = (id: string, version: string, where: string, at: DocumentPlace): void => {
    const known = versions.get(id)
    if (!known) versions.set(id, { version, where })
    else if (known.where !== where)
      reportFinding(
        work,
        'subagent/version-conflict',
        at,
        `${id} is in this bundle twice: ${known.version} (${known.where}) and ${version} (${where}).`,
      )
  }
  for (const { document, agent, id } of work.members)
    check(id, agent.metadata.version, document.path, { document, pointer: '/metadata/version' })
  for (const snapshot of work.externals.values())
    check(snapshot.id, snapshot.version, `published ${snapshot.version}`, pinnedAt(work, snapshot))
}

/** The first edge that leads to a published agent; that of the root for one that is reached through others. */
function pinnedAt(work: CompileState, snapshot: AgentSnapshot): DocumentPlace {
  const edge = work.members
    .flatMap(({ edges }) => edges)
    .find(({ target }) => target.at === 'published' && target.snapshot === snapshot)
  return edge
    ? { document: edge.at.document, pointer: `${edge.at.pointer}/ref` }
    : { document: work.subject!, pointer: '/spec/agents' }
}

function checkDepth(work: CompileState, root: BundleAgent): void {
  const allowed = root.agent.spec.limits?.max_subagent_depth ?? DEFAULT_DEPTH
  const longest = longestPath(work, { at: 'local', member: root }, new Map())
  if (longest.length - 1 > allowed)
    reportFinding(
      work,
      'limits/depth-exceeded',
      { document: root.document, pointer: '/spec/limits/max_subagent_depth' },
      `Delegation goes ${longest.length - 1} deep (${longest.join(' -> ')}), but max_subagent_depth is ${allowed}.`,
    )
}

/** Ids along the longest way down, the target's own first. */
function longestPath(
  work: CompileState,
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
          const snapshot = work.externals.get(`${child.id}@${child.version}`)
          return snapshot ? [{ at: 'published', snapshot }] : []
        })
  const longest = next.map((each) => longestPath(work, each, known)).reduce((a, b) => (b.length > a.length ? b : a), [])
  const path = [id, ...longest]
  known.set(id, path)
  return path
}

function checkSecrets(work: CompileState, root: BundleAgent): void {
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
          work,
          'secret/conflict',
          spotOf(name),
          `The secret "${name}" is ${fromEnv} in ${agent} and ${known.env} in ${known.agent}.`,
          {
            fix: 'Give each variable a name of its own.',
          },
        )
    }
  }
  // The root speaks first: its meaning of a name is the one the others clash with.
  for (const { document, agent, id } of [root, ...work.members.filter((each) => each !== root)])
    check(id, agent.secrets ?? {}, (name) => ({ document, pointer: `/secrets/${name}/fromEnv` }))
  for (const snapshot of work.externals.values())
    check(`${snapshot.id}@${snapshot.version}`, snapshot.secrets, () => pinnedAt(work, snapshot))
}
