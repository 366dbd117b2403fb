/**
 * A part of the documents, linted without the rest, so that a project of any size takes the memory of its largest bundle
 * and its bundles can be linted side by side. Whatever a rule asks beyond the part is noted as a topic; parts that meet in
 * a topic are linted together afterwards (`parts.ts`), so that no finding depends on how the files were divided.
 */
import type { Kind } from '../spec/document.ts'
import { attachmentsOf, linkedTopic, namedTopic, scopeOf } from './attachments.ts'
import { boundariesOf } from './authority.ts'
import { toolDocument, toolsOf } from './bindings.ts'
import { edgesOf } from './closure.ts'
import { linkOf } from './decision.ts'
import type { Diagnostic } from './diagnostic.ts'
import { textsAt, type Document } from './document.ts'
import { excerptsOf, type Excerpt } from './excerpts.ts'
import type { Files } from './files.ts'
import type { createCheck } from './lint.ts'
import { readFiles } from './load.ts'
import { agentTopic } from './lock-file.ts'
import { directoryOf } from './paths.ts'
import { classificationsRead, classificationTopic } from './rules/classification-unused.ts'
import { isBound } from './rules/unused-tool.ts'
import { skeletonOf } from './scripts.ts'
import { suppressionsIn, type Suppression } from './suppress.ts'
import { createWorkspace, topics, type Workspace } from './workspace.ts'

/** Files that may hold documents, sorted. */
export interface Part {
  readonly paths: readonly string[]
  /** True where some belong to no bundle, and so do files of other parts. */
  readonly isSplit: boolean
  /** Files of other parts whose documents are at hand, too, without being linted here. */
  readonly beside?: readonly string[]
}

/** What is said of all parts of a round. */
export interface Round {
  readonly parts: readonly Part[]
  /** Directories of Bundle documents: at first as far as the names of files tell. */
  readonly bundles: readonly string[]
  /** Absent in the first round, in which a part that asks for something else is left for the next. */
  readonly ids?: Readonly<Record<Kind, readonly string[]>>
}

export interface PartReport {
  /** Files with documents, good or bad. */
  readonly read: readonly string[]
  /** What is wrong with their form. */
  readonly form: readonly Diagnostic[]
  /** What rules say of the documents of a file, where they say anything; absent when it takes the rest to know. */
  readonly findings?: readonly (readonly [path: string, found: readonly Diagnostic[]])[]
  /** What stands where something is wrong. */
  readonly excerpts: readonly Excerpt[]
  readonly suppressions: readonly Suppression[]
  readonly identities: readonly Identity[]
  /** Directories of its Bundle documents. */
  readonly bundles: readonly string[]
  /** What its documents are about. */
  readonly holds: readonly string[]
  /** What of the rest it depends on. */
  readonly asks: readonly string[]
}

export interface Identity {
  readonly kind: Kind
  readonly id: string
  readonly path: string
  /** The same for ids that people may take for one another. */
  readonly looks: string
  /** True for a tool of which nothing is said that depends on who binds it: to know it, who does need not be known. */
  readonly isPlain: boolean
}

/** What a part is linted with. */
export interface Setting {
  readonly root: string
  readonly files: Files
  /** Files that were named by themselves. */
  readonly named: ReadonlySet<string>
  /** Every file that may hold documents. */
  readonly candidates: ReadonlySet<string>
  /** Files of the operator's own policies, which every part is judged by. */
  readonly guardrails: readonly string[]
  readonly check: ReturnType<typeof createCheck>
}

/** What is known of the other parts, as it is asked for. */
export interface Known extends Pick<Round, 'ids'> {
  readonly bundles: ReadonlySet<string>
}

export function lintPart(
  { root, files, named, candidates, guardrails, check }: Setting,
  part: Part,
  { bundles, ids }: Known,
): PartReport {
  const { documents, findings, read } = readFiles(files, part.paths, named)
  const asks = new Set<string>()
  const own = new Set(part.paths)
  const near = new Set([...(part.beside ?? []), ...guardrails].filter((path) => candidates.has(path) && !own.has(path)))
  const beside = readFiles(files, [...near], named).documents
  const workspace = createWorkspace({
    root,
    files,
    documents: beside.length === 0 ? documents : inOrder([...documents, ...beside]),
    findings,
    read,
    rest: {
      bundles,
      isSplit: part.isSplit,
      mayHold: (path) => candidates.has(path) && !own.has(path),
      ask: (topic) => asks.add(topic),
      ...(ids && { ids }),
    },
  })
  const holds = new Set<string>()
  for (const document of documents) for (const topic of topicsOf(workspace, document)) holds.add(topic)
  for (const document of documents) askFor(workspace, document)
  const isReady = (): boolean => ids !== undefined || [...asks].every((topic) => holds.has(topic))
  const found = isReady() ? findingsOf(documents, check(workspace)) : undefined
  const sources = new Map(documents.map(({ source }) => [source.path, source]))
  files.release?.()
  return {
    read,
    form: findings,
    ...(found && isReady() && { findings: found }),
    excerpts: excerptsOf([...findings, ...(found ?? []).flatMap(([, each]) => each)], sources),
    suppressions: [...sources.values()].flatMap(suppressionsIn),
    identities: documents.flatMap((document) => identityOf(workspace, document)),
    bundles: documents.filter(({ kind }) => kind === 'Bundle').map(({ path }) => directoryOf(path)),
    holds: [...holds],
    asks: [...asks],
  }
}

/** By path; what stands in one file stays in its order. */
const inOrder = (documents: readonly Document[]): readonly Document[] =>
  documents.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))

function identityOf(workspace: Workspace, document: Document): Identity[] {
  const { kind, path, identity } = document
  if (identity === undefined) return []
  const isPlain = kind === 'Tool' && !isJudgedByUse(workspace, document)
  return [{ kind, path, id: identity.id, looks: skeletonOf(identity.id), isPlain }]
}

/** True where rules about a tool, or about what its file brings along, look at the agents that bind it. */
const isJudgedByUse = (workspace: Workspace, tool: Document): boolean =>
  tool.at('spec.input_schema').length === 0 ||
  attachmentsOf(workspace, tool).length > 0 ||
  workspace.documentsAt(tool.path).length > 1 ||
  (workspace.bundleOf(tool) !== undefined && !isBound(workspace, tool))

/** What documents of other parts may ask for. */
function topicsOf(workspace: Workspace, document: Document): readonly string[] {
  const { kind, identity } = document
  const id = identity === undefined ? [] : [topics.id(kind, identity.id)]
  if (workspace.bundleOf(document) !== undefined) return id
  const boundaries = textsAt(document.value, 'metadata.governance.authority_boundaries.*')
  const link = linkOf(document)
  const among = [
    ...boundaries.map(namedTopic),
    ...(link === undefined ? [] : [linkedTopic(link)]),
    ...classificationsRead(document).map(classificationTopic),
    ...(kind === 'Agent' ? [agentTopic(directoryOf(document.path))] : []),
  ]
  return [...id, topics.loose, ...among.map(topics.among)]
}

/**
 * Asks for all that a document names. Rules ask the same, but not each of them is run, and what is named must know of it:
 * a policy is judged by the agents that it gates.
 */
function askFor(workspace: Workspace, document: Document): void {
  const { kind, identity } = document
  if (identity !== undefined) workspace.find(document, kind, identity.id)
  const scope = kind === 'Policy' ? scopeOf(document) : undefined
  if (scope !== undefined) workspace.find(document, 'Tool', scope)
  const link = linkOf(document)
  if (link !== undefined) workspace.asks(document, namedTopic(link))
  for (const classification of textsAt(document.value, 'metadata.governance.classifications.*'))
    workspace.asks(document, classificationTopic(classification))
  attachmentsOf(workspace, document)
  if (textsAt(document.value, 'metadata.governance.authority_boundaries.*').length > 0)
    boundariesOf(workspace, document)
  if (kind !== 'Agent') return
  for (const use of toolsOf(document)) toolDocument(workspace, use)
  edgesOf(workspace, document)
}

function findingsOf(
  documents: readonly Document[],
  check: (document: Document) => readonly Diagnostic[],
): (readonly [string, readonly Diagnostic[]])[] {
  const findings: (readonly [string, readonly Diagnostic[]])[] = []
  for (const document of documents) {
    const found = check(document)
    if (found.length > 0) findings.push([document.path, found])
  }
  return findings
}
