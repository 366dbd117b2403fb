/** Tools and policies of the closure: from the bundle first, then from the registry. Source: bundles, section 1. */
import { maxSatisfying, rcompare } from 'semver'
import type { JsonObject } from '../../base/json.ts'
import { asKind, type Document } from '../../documents/text/document.ts'
import { checkPath } from '../../documents/text/paths.ts'
import { isRange, readLogicalRef, type LogicalRef } from '../../documents/text/reference.ts'
import { didYouMean } from '../../documents/text/suggest.ts'
import type { PolicyAttachment, PolicyDocument, ToolBinding, ToolDocument } from '../../spec/document.ts'
import { digestOfDocument, type JsonSchema, type PublishedDocument } from '../../spec/snapshot.ts'
import { builtinTool } from './builtin.ts'
import { whyNowhere } from '../state/refuse.ts'
import { readRulebook } from './read-policy.ts'
import { inlineSchema } from './schema.ts'
import {
  checkPinned,
  idOfDocument,
  reportFinding,
  typedDocument,
  type AttachedPolicy,
  type ResolvedTool,
  type ToolContract,
  type BundleAgent,
  type ResolvedPolicy,
  type DocumentPlace,
  type CompileState,
} from '../state/state.ts'

/** The project file, where a guardrail that leads nowhere is reported. */
const CONFIG = 'svc.config.yaml'

export async function resolveReferences(work: CompileState): Promise<void> {
  work.guards = work.guardrails.flatMap((path, index) => readGuardrail(work, path, index) ?? [])
  const { subject } = work
  if (subject?.kind === 'Tool') await contractOf(work, subject)
  if (subject?.kind === 'Policy') rulebookOf(work, subject)
  for (const member of work.members) await resolveMember(work, member)
}

async function resolveMember(work: CompileState, member: BundleAgent): Promise<void> {
  const { document, agent } = member
  member.defaults = await attach(work, document, '/spec/default_policies', agent.spec.default_policies)
  for (const [index, binding] of (agent.spec.tools ?? []).entries()) {
    const at = { document, pointer: `/spec/tools/${index}` }
    const resolved = await resolveTool(work, binding, at)
    if (resolved)
      member.bindings.push({
        ...resolved,
        policies: await attach(work, document, `${at.pointer}/policies`, binding.policies),
      })
  }
  for (const edge of member.edges)
    edge.policies = await attach(work, document, `${edge.at.pointer}/policies`, edge.binding.policies)
}

async function resolveTool(
  work: CompileState,
  binding: ToolBinding,
  at: DocumentPlace,
): Promise<ResolvedTool | undefined> {
  const place = { document: at.document, pointer: `${at.pointer}/ref` }
  const ref = readLogicalRef(binding.ref)
  if (!ref)
    return reportFinding(
      work,
      'tool/ref-syntax',
      place,
      `"${binding.ref}" is not namespace.name, with or without @range.`,
    )
  if (ref.range !== undefined && !isRange(ref.range))
    return reportFinding(work, 'tool/range-invalid', place, `"${ref.range}" is no semver range.`)
  const builtin = builtinTool(ref)
  if (builtin) return { binding, at, ref, builtin, policies: [] }
  const before = work.findings.length
  const contract = await chooseTool(work, ref, at.document)
  if (contract) return { binding, at, ref, contract, policies: [] }
  // The document is there, and what is wrong in it has been said.
  if (work.findings.length > before) return undefined
  if (binding.mcp) return { binding, at, ref, policies: [] }
  return reportFinding(work, 'tool/unresolved', place, await whyUnresolved(work, ref, at.document))
}

async function whyUnresolved(work: CompileState, ref: LogicalRef, from: Document): Promise<string> {
  const versions = [
    ...local(work, from, 'Tool', ref.id).map((each) => each.identity!.version),
    ...(await work.published.tools(ref.id)).map((each) => each.version),
  ]
  if (versions.length > 0)
    return `No version of ${ref.id} satisfies ${ref.range ?? '*'}; there are ${versions.sort().join(', ')}.`
  const ids = work.workspace.neighbours(from).flatMap((each) => (each.kind === 'Tool' ? idOfDocument(each) : []))
  return `There is no Tool document ${ref.id}, neither in the bundle nor published.${didYouMean(ref.id, ids)}`
}

async function chooseTool(work: CompileState, ref: LogicalRef, from: Document): Promise<ToolContract | undefined> {
  const candidates = local(work, from, 'Tool', ref.id)
  const version = maxSatisfying(
    candidates.map((each) => each.identity!.version),
    ref.range ?? '*',
  )
  const document = candidates.find((each) => each.identity!.version === version)
  if (document) return contractOf(work, document)
  const published = choose(work, 'Tool', ref.id, await work.published.tools(ref.id), ref.range ?? '*')
  return published && publishedContract(work, published, from, ref)
}

/** Documents of the same bundle. */
const local = (work: CompileState, from: Document, kind: 'Tool' | 'Policy', id: string): readonly Document[] =>
  work.workspace.neighbours(from).filter((each) => each.kind === kind && each.identity?.id === id)

/** The version that the lock chose while it still satisfies, else the highest. A yanked one is only kept where it is pinned. */
function choose(
  work: CompileState,
  kind: 'Tool' | 'Policy',
  id: string,
  all: readonly PublishedDocument[],
  range: string,
): PublishedDocument | undefined {
  const pinned = work.pins.get(`${kind} ${id}`) ?? []
  const versions = all
    .filter(({ version, yanked }) => yanked !== true || pinned.includes(version) || version === range)
    .map((each) => each.version)
  const version =
    maxSatisfying(
      versions.filter((each) => pinned.includes(each)),
      range,
    ) ?? maxSatisfying(versions, range)
  const found = all.find((each) => each.version === version)
  if (!found) return undefined
  const { yanked: _, ...chosen } = found
  return chosen
}

async function contractOf(work: CompileState, document: Document): Promise<ToolContract | undefined> {
  const known = work.contracts.get(document)
  if (known) return known
  const tool = typedDocument(work, document, 'Tool')
  if (!tool) return undefined
  const schemaOf = (field: 'input_schema' | 'output_schema'): JsonSchema | undefined => {
    const spec = tool.spec[field]
    return spec && inlineSchema(work, spec, { document, pointer: `/spec/${field}` })
  }
  const [input, output] = [schemaOf('input_schema'), schemaOf('output_schema')]
  const version = work.version(tool.metadata.version)
  const whole = {
    ...tool,
    metadata: { ...tool.metadata, version },
    spec: {
      ...tool.spec,
      ...(input !== undefined && { input_schema: { inline: input } }),
      ...(output !== undefined && { output_schema: { inline: output } }),
    },
  }
  const contract: ToolContract = {
    published: publish('Tool', idOfDocument(document), version, whole),
    tool,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    document,
    policies: [],
  }
  work.contracts.set(document, contract)
  contract.policies.push(...(await attach(work, document, '/spec/default_policies', tool.spec.default_policies)))
  return contract
}

async function publishedContract(
  work: CompileState,
  published: PublishedDocument,
  from: Document,
  ref: LogicalRef,
): Promise<ToolContract> {
  const key = `Tool ${published.id}@${published.version}`
  const known = work.contracts.get(key)
  if (known) return known
  checkPinned(work, 'Tool', published, { document: from, pointer: '/spec/tools' })
  // Publishing has checked its shape and put schemas in by value.
  const tool = published.document as unknown as ToolDocument
  const [input, output] = [tool.spec.input_schema?.inline, tool.spec.output_schema?.inline]
  const contract: ToolContract = {
    published,
    tool,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    policies: [],
    ...(ref.range !== undefined && { requested: ref.range }),
  }
  work.contracts.set(key, contract)
  contract.policies.push(...(await attach(work, from, '/spec/tools', tool.spec.default_policies)))
  return contract
}

/** The policies of one list. What cannot be found or read is reported where it is attached. */
async function attach(
  work: CompileState,
  document: Document,
  pointer: string,
  list: readonly PolicyAttachment[] | undefined,
): Promise<AttachedPolicy[]> {
  const attached: AttachedPolicy[] = []
  for (const [index, attachment] of (list ?? []).entries()) {
    const here = { document, pointer: `${pointer}/${index}` }
    const at = document.spanOf(here.pointer) ? here : { document, pointer }
    const rulebook =
      typeof attachment === 'string' ? await policyById(work, attachment, at) : policyByPath(work, attachment.ref, at)
    if (rulebook) attached.push({ rulebook, at })
  }
  return attached
}

async function policyById(work: CompileState, id: string, at: DocumentPlace): Promise<ResolvedPolicy | undefined> {
  const [newest] = [...local(work, at.document, 'Policy', id)].sort((a, b) =>
    rcompare(a.identity!.version, b.identity!.version),
  )
  if (newest) return rulebookOf(work, newest)
  const published = choose(work, 'Policy', id, await work.published.policies(id), '*')
  if (published) return publishedRulebook(work, published, at)
  const ids = work.workspace
    .neighbours(at.document)
    .flatMap((each) => (each.kind === 'Policy' ? idOfDocument(each) : []))
  return reportFinding(
    work,
    'policy/attachment-missing',
    at,
    `There is no Policy document ${id}, neither in the bundle nor published.${didYouMean(id, ids)}`,
  )
}

function policyByPath(work: CompileState, ref: string, at: DocumentPlace): ResolvedPolicy | undefined {
  const resolution = work.workspace.resolve(at.document, ref)
  if (!('path' in resolution)) return reportFinding(work, 'policy/attachment-missing', at, whyNowhere(ref, resolution))
  const [policy, ...others] = work.workspace.documentsAt(resolution.path).filter((each) => each.kind === 'Policy')
  if (policy && others.length === 0) return rulebookOf(work, policy)
  return reportFinding(
    work,
    'policy/attachment-missing',
    at,
    `${resolution.path} holds ${policy ? 'more than one Policy document; name it by its id' : 'no Policy document'}.`,
  )
}

function readGuardrail(work: CompileState, written: string, index: number): ResolvedPolicy[] | undefined {
  const checked = checkPath(written)
  const policies =
    'path' in checked ? work.workspace.documentsAt(checked.path).filter((each) => each.kind === 'Policy') : []
  const start = { line: 1, column: 1, offset: 0 }
  const place = { path: CONFIG, pointer: `/guardrails/${index}`, range: { start, end: start } }
  if (policies.length === 0)
    return reportFinding(
      work,
      'policy/attachment-missing',
      place,
      `guardrails names "${written}", which holds no Policy document.`,
    )
  return policies.flatMap((each) => rulebookOf(work, each) ?? [])
}

/** Reads a Policy document of this workspace once. */
export function rulebookOf(work: CompileState, document: Document): ResolvedPolicy | undefined {
  const known = work.rulebooks.get(document)
  if (known) return known
  const policy = asKind(document, 'Policy') ?? typedDocument(work, document, 'Policy')
  if (!policy) return undefined
  const version = work.version(policy.metadata.version)
  const published = publish('Policy', idOfDocument(document), version, {
    ...policy,
    metadata: { ...policy.metadata, version },
  })
  const rulebook = readRulebook(work, policy, published, (pointer) => ({ document, pointer }), document)
  if (rulebook) work.rulebooks.set(document, rulebook)
  return rulebook
}

function publishedRulebook(
  work: CompileState,
  published: PublishedDocument,
  at: DocumentPlace,
): ResolvedPolicy | undefined {
  const key = `Policy ${published.id}@${published.version}`
  const known = work.rulebooks.get(key)
  if (known) return known
  checkPinned(work, 'Policy', published, at)
  // Publishing has checked its shape.
  const rulebook = readRulebook(work, published.document as unknown as PolicyDocument, published, () => at)
  if (rulebook) work.rulebooks.set(key, rulebook)
  return rulebook
}

function publish(kind: 'Tool' | 'Policy', id: string, version: string, document: object): PublishedDocument {
  const content = document as JsonObject
  const published = { kind, id, version, document: content }
  return { ...published, digest: digestOfDocument(published) }
}
