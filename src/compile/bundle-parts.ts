/**
 * The parts of a bundle as a CycloneDX 1.6 document: its agents, tools, policies and files by their digests, the models that it asks and
 * the MCP servers that it calls, with their pins. One bundle gives the same bytes on every machine.
 * Source: docs/design/bundles-and-authority.md#parts
 */
import type { Digest } from '../base/digest.ts'
import { compareText } from '../base/values/compare-text.ts'
import type { AgentSnapshot, CompiledBundle, SnapshotModel } from '../spec/snapshot.ts'
import { bundleTree } from './bundle-tree.ts'
import type { LockedMember, LockFile } from './state/lock-file.ts'

interface Property {
  readonly name: string
  readonly value: string
}

export interface BundlePart {
  readonly 'bom-ref': string
  readonly type: 'application' | 'library' | 'data' | 'file' | 'machine-learning-model'
  readonly group?: string
  readonly name: string
  readonly version?: string
  readonly description?: string
  readonly hashes?: readonly { readonly alg: 'SHA-256'; readonly content: string }[]
  readonly properties?: readonly Property[]
}

/** An MCP server. Its pins are properties, because a service has no hashes. */
export interface BundleService {
  readonly 'bom-ref': string
  readonly name: string
  readonly endpoints: readonly string[]
  readonly authenticated: boolean
  readonly properties: readonly Property[]
}

export interface BundleParts {
  readonly $schema: string
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.6'
  readonly version: 1
  readonly metadata: { readonly component: BundlePart }
  readonly components: readonly BundlePart[]
  readonly services: readonly BundleService[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/** What a member of a lock file is to CycloneDX. */
const TYPES: Readonly<Record<LockedMember['kind'], BundlePart['type']>> = {
  agent: 'application',
  tool: 'library',
  policy: 'data',
  schema: 'file',
  instructions: 'file',
  script: 'file',
  models: 'file',
}

export function bundleParts(bundle: CompiledBundle, lock: LockFile): BundleParts {
  const { root, edges } = bundleTree(bundle, lock)
  const agents = new Map(bundle.agents.map((agent) => [agent.id, agent]))
  const documents = new Map(lock.members.map((member) => [`${member.kind} ${member.id}`, refOf(member)]))
  const main = rootPart(bundle, lock, root)
  const asked = (agent: AgentSnapshot): string[] => [
    ...[agent.model, ...(agent.fallback ?? [])].map((model) => modelRef(model)),
    ...agent.mcpServers.map(({ name, url }) => serverRef(name, url)),
    ...edges.flatMap(({ from, kind, to, lateBound }) =>
      from === agent.id && !lateBound ? (documents.get(`${kind} ${to}`) ?? []) : [],
    ),
  ]
  const dependencies = [
    // Files belong to the whole: a compiled agent holds what it read of them by value.
    { ref: main['bom-ref'], dependsOn: sorted(lock.members.map(refOf)) },
    ...lock.members.flatMap((member) => {
      const agent = member.kind === 'agent' ? agents.get(member.id) : undefined
      return agent ? [{ ref: refOf(member), dependsOn: sorted(asked(agent)) }] : []
    }),
  ]
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: main },
    components: [...lock.members.map((member) => memberPart(member, bundle, lock)), ...modelParts(bundle.agents)],
    services: serverParts(bundle.agents),
    dependencies: dependencies.toSorted((a, b) => compareText(a.ref, b.ref)),
  }
}

/** The whole. A document that is published alone has no name of its own. */
function rootPart({ closureDigest }: CompiledBundle, { bundle }: LockFile, root: string | null): BundlePart {
  const { id, version } = bundle ?? { id: root ?? 'bundle', version: undefined }
  return {
    'bom-ref': `bundle:${id}${version === undefined ? '' : `@${version}`}`,
    type: 'application',
    name: id,
    ...(version !== undefined && { version }),
    hashes: hashesOf(closureDigest),
  }
}

function memberPart(member: LockedMember, { agents, documents }: CompiledBundle, lock: LockFile): BundlePart {
  const { kind, id, version, origin, path, requested, integrity } = member
  const compiled = kind === 'agent' ? lock.compiled[id] : undefined
  const classes = kind === 'tool' ? classesOf(id, agents) : []
  const described =
    kind === 'agent'
      ? agents.find((agent) => agent.id === id)?.purpose
      : documents.find((document) => document.id === id && document.kind.toLowerCase() === kind)?.document[
          'description'
        ]
  return {
    'bom-ref': refOf(member),
    type: TYPES[kind],
    name: id,
    ...(version !== undefined && { version }),
    ...(typeof described === 'string' && { description: described }),
    hashes: hashesOf(integrity),
    properties: properties({
      'svc:kind': [kind],
      'svc:origin': [origin],
      'svc:path': path === undefined ? [] : [path],
      'svc:requested': requested === undefined ? [] : [requested],
      'svc:compiled': compiled === undefined ? [] : [compiled],
      'svc:side-effect-class': classes,
    }),
  }
}

/** The classes with which agents bind a tool: the stricter of theirs and the document's. */
const classesOf = (tool: string, agents: readonly AgentSnapshot[]): string[] =>
  sorted(
    agents.flatMap(({ tools }) =>
      tools.flatMap(({ id, sideEffectClass }) => (id === tool ? [sideEffectClass ?? 'undeclared'] : [])),
    ),
  )

function modelParts(agents: readonly AgentSnapshot[]): BundlePart[] {
  const models = new Map<string, BundlePart>()
  for (const model of agents.flatMap((agent) => [agent.model, ...(agent.fallback ?? [])]))
    models.set(modelRef(model), {
      'bom-ref': modelRef(model),
      type: 'machine-learning-model',
      group: model.provider,
      name: model.name,
      ...(model.base_url !== undefined && { properties: properties({ 'svc:base-url': [model.base_url] }) }),
    })
  return [...models.values()].toSorted((a, b) => compareText(a['bom-ref'], b['bom-ref']))
}

function serverParts(agents: readonly AgentSnapshot[]): BundleService[] {
  const servers = new Map<string, BundleService>()
  for (const { name, url, auth } of agents.flatMap(({ mcpServers }) => mcpServers)) {
    const users = agents.filter(({ mcpServers }) => mcpServers.some((each) => each.name === name && each.url === url))
    const pins = users.flatMap(({ tools }) =>
      tools.flatMap(({ mcp }) => (mcp?.server === name ? [`${mcp.tool} ${mcp.integrity ?? 'not pinned'}`] : [])),
    )
    servers.set(serverRef(name, url), {
      'bom-ref': serverRef(name, url),
      name,
      endpoints: [url],
      authenticated: auth !== undefined,
      properties: properties({ 'svc:mcp-tool': sorted(pins) }),
    })
  }
  return [...servers.values()].toSorted((a, b) => compareText(a['bom-ref'], b['bom-ref']))
}

const refOf = ({ kind, id, version }: LockedMember): string =>
  `${kind}:${id}${version === undefined ? '' : `@${version}`}`
const modelRef = ({ provider, name, base_url }: SnapshotModel): string =>
  `model:${provider}/${name}${base_url === undefined ? '' : `@${base_url}`}`
const serverRef = (name: string, url: string): string => `mcp:${name}@${url}`

const hashesOf = (digest: Digest) => [{ alg: 'SHA-256', content: digest.replace(/^sha256:/, '') }] as const

const properties = (values: Readonly<Record<string, readonly string[]>>): Property[] =>
  Object.entries(values).flatMap(([name, all]) => all.map((value) => ({ name, value })))

const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].toSorted(compareText)
