/** What agents of a source become: documents, prompts, entries of the project file, and what is lost. Source: docs/design/command-line.md#imports */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { OPERATION_RECORD_VERSION } from '../../spec/project/operation-record.ts'
import { EXTERNAL_PROVIDER } from '../../spec/external.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { anyGlob } from '../glob.ts'
import {
  namespaceFor,
  readImportRecord,
  writtenOf,
  type ConfigEntry,
  type ImportPlan,
  type PlannedFile,
} from '../import-plan.ts'
import { quoteForeign } from '../foreign-text.ts'
import type { LossList } from '../losses.ts'
import { maskPlanned } from '../mask-planned.ts'
import { toToolName, withDigest } from '../openapi-document.ts'
import { agentPath, planAgent } from './agent-document.ts'
import type { ForeignAgent, ForeignProject } from './foreign-project.ts'
import { ServerNames } from './foreign-server.ts'
import { ToolPlan } from './tool-document.ts'

export interface AgentImportRequest {
  readonly project: ForeignProject
  /** `claude`: part of the name of the record. */
  readonly format: string
  /** As the person gave it. */
  readonly source: string
  readonly directory: string
  readonly namespace: string | undefined
  /** Patterns of names; empty for all agents. */
  readonly selected: readonly string[]
  readonly trustAllow: boolean
  /** The caller keeps the secrets that the source spells out, where the server reads its variables. */
  readonly keepsValues?: boolean
  /** Has what reading lost. */
  readonly losses: LossList
}

export interface AgentImport extends ImportPlan {
  /** Environment variables that the documents and programs need. */
  readonly variables: readonly string[]
  /** What the source spells out, by variable; a variable may have several. No document has it. */
  readonly values: readonly (readonly [variable: string, value: string])[]
}

const MAX_AGENTS = 200

/** Reads only. @throws Failure `usage` */
export function planAgentImport(request: AgentImportRequest): AgentImport {
  const { project, directory, losses } = request
  const namespace = namespaceFor(request.namespace, project.title)
  const agents = selectAgents(project.agents, request)
  const delegation = planDelegation(agents, losses)
  const names = nameAgents(agents)
  const serverNames = new ServerNames()
  const tools = new ToolPlan(namespace, serverNames, losses)
  const planned = agents.map((agent) =>
    planAgent(agent, {
      namespace,
      losses,
      tools,
      serverNames,
      trustAllow: request.trustAllow,
      keepsValues: request.keepsValues === true,
      documentName: (name) => names.get(name)!,
      agents: new Map(agents.map((each) => [each.name, each])),
      delegation,
      depthOf: (name) => delegationDepth(name, delegation),
    }),
  )
  // An agent that stands for a client is published by itself.
  const isOfClients = agents.every(({ model: { provider } }) => provider === EXTERNAL_PROVIDER)
  const bundle = isOfClients ? [] : [bundleFile(namespace, names.get(rootOf(project, agents, delegation, losses))!)]
  const files = maskPlanned([...planned.flatMap((each) => each.files), ...tools.files(), ...bundle], losses)
  const config = distinctEntries(planned.flatMap((each) => each.config))
  const recordPath = `imports/${namespace}.${request.format}.json`
  const before = readImportRecord(directory, recordPath)
  const present = new Set(files.map(({ path }) => path))
  return {
    namespace,
    source: request.source,
    recordPath,
    before,
    record: {
      svcImport: OPERATION_RECORD_VERSION,
      source: request.source,
      securitySchemes: {},
      operations: {},
      written: { ...before?.written, ...writtenOf(files) },
    },
    files,
    config,
    losses: losses.all(),
    gone: request.selected.length > 0 ? [] : Object.keys(before?.written ?? {}).filter((path) => !present.has(path)),
    variables: variablesOf(files, config),
    values: planned.flatMap((each) => each.values),
  }
}

export function selectAgents(
  agents: readonly ForeignAgent[],
  { selected, source }: { readonly selected: readonly string[]; readonly source: string },
): readonly ForeignAgent[] {
  const globs = selected.map(anyGlob)
  const found = agents.filter(({ name }) => globs.length === 0 || globs.some((glob) => glob.test(name)))
  if (agents.length === 0) throw usageFailure(`${source} has no agents.`)
  if (found.length === 0)
    throw usageFailure(
      `No agent of ${source} is selected.`,
      `Its agents: ${agents
        .map(({ name }) => name)
        .slice(0, 10)
        .join(', ')}`,
    )
  if (found.length > MAX_AGENTS) throw usageFailure(`${found.length} agents are selected, more than ${MAX_AGENTS}.`)
  return found
}

/** The agent that stands for the whole: as the source says, or the first to which none delegates, before all one that delegates. */
function rootOf(
  { root }: ForeignProject,
  agents: readonly ForeignAgent[],
  delegation: ReadonlyMap<string, readonly string[]>,
  losses: LossList,
): string {
  if (root !== undefined && delegation.has(root)) return root
  const below = new Set([...delegation.values()].flat())
  const tops = agents.filter(({ name }) => !below.has(name))
  const first = tops.find(({ name }) => delegation.get(name)!.length > 0) ?? tops[0]!
  for (const { name, at } of tops)
    if (name !== first.name)
      losses.add(at, `the root of the bundle is ${quoteForeign(first.name)}: write a Bundle for this agent, too`)
  return first.name
}

/** Names of documents by names of agents. */
function nameAgents(agents: readonly ForeignAgent[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  for (const { name } of agents) {
    const plain = toToolName(name).replaceAll('_', '-') || 'agent'
    const own = taken.has(plain) || plain.length > 56 ? withDigest(plain, name) : plain
    taken.add(own)
    names.set(name, own)
  }
  return names
}

const bundleFile = (namespace: string, root: string): PlannedFile => ({
  kind: 'Bundle',
  id: `${namespace}.${root}`,
  key: 'the whole source',
  path: 'bundle.yaml',
  content: {
    apiVersion: 'svc/v1',
    kind: 'Bundle',
    metadata: { name: root, namespace, version: '1.0.0' },
    spec: { root: agentPath(namespace, root) },
  },
})

const distinctEntries = (entries: readonly ConfigEntry[]): readonly ConfigEntry[] => [
  ...new Map(entries.map((each) => [each.at.join('\n'), each])).values(),
]

function variablesOf(files: readonly PlannedFile[], config: readonly ConfigEntry[]): readonly string[] {
  const secrets = files.flatMap(({ content }) =>
    isJsonObject(content) && isJsonObject(content['secrets'])
      ? Object.values(content['secrets']).map((each) => (isJsonObject(each) ? each['fromEnv'] : undefined))
      : [],
  )
  const passed = config.flatMap(({ value: { env } }): JsonValue[] => (Array.isArray(env) ? env : []))
  return [...new Set([...secrets, ...passed].filter((each) => typeof each === 'string'))].sort()
}

function planDelegation(agents: readonly ForeignAgent[], losses: LossList): ReadonlyMap<string, readonly string[]> {
  const byName = new Map(agents.map((each) => [each.name, each]))
  const kept = new Map<string, string[]>()
  const visit = (name: string, above: ReadonlySet<string>): void => {
    if (kept.has(name)) return
    const agent = byName.get(name)!
    const path = new Set([...above, name])
    const targets: string[] = []
    for (const target of new Set(agent.agents)) {
      if (!byName.has(target)) losses.add(agent.at, `delegates to ${quoteForeign(target)}, which is not imported`)
      else if (path.has(target))
        losses.add(agent.at, `delegation to ${quoteForeign(target)} closes a cycle and is left out`)
      else {
        visit(target, path)
        targets.push(target)
      }
    }
    kept.set(name, targets)
  }
  for (const { name } of agents) visit(name, new Set())
  return kept
}

/** Levels of delegation below an agent. */
function delegationDepth(name: string, delegation: ReadonlyMap<string, readonly string[]>): number {
  const depths = new Map<string, number>()
  const depthOf = (each: string): number => {
    const known = depths.get(each)
    if (known !== undefined) return known
    const depth = Math.max(0, ...(delegation.get(each) ?? []).map((target) => 1 + depthOf(target)))
    depths.set(each, depth)
    return depth
  }
  return depthOf(name)
}
