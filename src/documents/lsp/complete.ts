/** Completions at a cursor. */
import { OPERATORS } from '../../policy/condition/operators.ts'
import { API_VERSION, KINDS } from '../../spec/document.ts'
import { isIdentified, type Document, type IdentifiedDocument } from '../text/document.ts'
import { directoryOf, extensionOf, isUnder } from '../text/paths.ts'
import { BUILTIN_TOOLS } from '../text/reference.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { argumentPaths } from './argument-paths.ts'
import { factPaths } from './fact-paths.ts'
import { cursorAt, keysBelow, type DocumentCursor } from './cursor.ts'
import { fieldAt, generalPath, holdsMore, keysAt, type Field } from './field.ts'

export interface OfferedCompletion {
  readonly label: string
  /** Text that replaces the word; the label when absent. */
  readonly insert?: string
  readonly kind: 'key' | 'value' | 'document' | 'file' | 'secret'
  /** One line beside the label. */
  readonly detail?: string
  readonly documentation?: string
}

export interface OfferedCompletions {
  /** Offsets of the text that a choice replaces. */
  readonly start: number
  readonly end: number
  readonly items: readonly OfferedCompletion[]
}

/**
 * @param path of the file, whose text in the workspace may be older than `text`
 * @param providers names of the project configuration
 */
export function completeAt(
  workspace: Workspace,
  path: string,
  text: string,
  offset: number,
  providers: readonly string[] = [],
): OfferedCompletions {
  const cursor = cursorAt(text, offset)
  const { start, end, at } = cursor
  if (isForeign(cursor)) return { start, end, items: [] }
  if (isConditionPath(cursor)) {
    const offered = completeFacts(workspace, path, text, offset, cursor)
    if (offered.items.length > 0) return offered
  }
  const items: OfferedCompletion[] = []
  if (at !== 'value') items.push(...keysOf(cursor))
  if (at !== 'key') items.push(...valuesOf(workspace, path, cursor, providers))
  return { start, end, items: path.endsWith('.json') ? items.map(asJson) : items }
}

/** True in a document of another program, such as Kubernetes: editors start one server for all YAML. */
const isForeign = ({ kind, key, path, lines, siblings }: DocumentCursor): boolean => {
  if (kind !== undefined || (path.length === 0 && key === 'apiVersion')) return false
  const written = lines.map((line) => /^["']?apiVersion["']?\s*:\s*["']?([^\s"'#]+)/.exec(line)?.[1]).find(Boolean)
  if (written !== undefined) return !/^svc\b/i.test(written)
  return path.length === 0 && siblings.size > 0 && !HEAD.some((each) => siblings.has(each))
}

const HEAD: readonly string[] = ['apiVersion', 'kind', 'metadata', 'spec']

/** True at the value of `field` and of a condition on one line. */
const isConditionPath = ({ kind, path, key, at }: DocumentCursor): boolean =>
  kind === 'Policy' &&
  at === 'value' &&
  path[0] === 'spec' &&
  path[1] === 'conditions' &&
  (key === 'field' || key === 'when')

/** Replaces the path around the cursor, and not the whole condition. */
function completeFacts(
  workspace: Workspace,
  path: string,
  text: string,
  offset: number,
  cursor: DocumentCursor,
): OfferedCompletions {
  const written = text.slice(cursor.start, cursor.end)
  const head = text.slice(cursor.start, offset)
  const before = head.slice(head.search(/[\w.[\]*-]*$/))
  const after = text.slice(offset, cursor.end).search(/[^\w.[\]*-]|$/)
  const isQuoted = /^["']/.test(written)
  const paths = factPaths(before, argumentPaths(workspace, path, cursor))
  const items = paths.map(({ path: label, type, description }): OfferedCompletion => ({
    label,
    kind: 'value',
    ...(type !== undefined && { detail: type }),
    ...(description !== undefined && { documentation: description }),
  }))
  return {
    start: offset - before.length,
    end: offset + after,
    items: path.endsWith('.json') && !isQuoted ? items.map(asJson) : items,
  }
}

/** Quotes keys and texts. */
function asJson(each: OfferedCompletion): OfferedCompletion {
  const { label, insert = label, kind } = each
  if (kind === 'key') return { ...each, insert: `"${label}"${insert === label ? '' : ': '}` }
  return /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(label) ? each : { ...each, insert: JSON.stringify(insert) }
}

function keysOf({ kind, path, siblings, at, key, isFlow }: DocumentCursor): OfferedCompletion[] {
  if (kind === undefined)
    return path.length > 0
      ? []
      : HEAD.filter((each) => !siblings.has(each)).map((each) => ({ label: each, insert: `${each}: `, kind: 'key' }))
  // The line already has a colon.
  const tail = at === 'key' && key !== undefined ? '' : ': '
  return keysAt(kind, path)
    .filter((each) => !siblings.has(each.key))
    .map(({ key: name, field }) => ({
      label: name,
      insert: name + (tail !== '' && !isFlow && holdsMore(kind, [...path, name]) ? ':' : tail),
      kind: 'key',
      ...(field.required && { detail: 'required' }),
      ...(field.description !== undefined && { documentation: field.description }),
    }))
}

function valuesOf(
  workspace: Workspace,
  path: string,
  cursor: DocumentCursor,
  providers: readonly string[],
): OfferedCompletion[] {
  const { kind, key } = cursor
  const place = key === undefined ? cursor.path : [...cursor.path, key]
  if (place.length === 1 && key === 'kind') return KINDS.map(asValue)
  if (place.length === 1 && key === 'apiVersion') return [asValue(API_VERSION)]
  if (kind === undefined) return []
  if (kind === 'Policy' && place[0] === 'spec' && place[1] === 'conditions' && key === 'op')
    return Object.entries(OPERATORS).map(([label, { word }]) => ({ label, kind: 'value', detail: word }))
  const field = fieldAt(kind, place)
  const named = referenceCompletions(workspace, path, cursor, `${kind} ${generalPath(kind, place) ?? place.join('.')}`)
  return [
    ...(named ?? []),
    ...(field ? withDefault(field) : []),
    ...(key === 'provider' ? providers : []).map(asValue),
    // An example name would lead nowhere where names of the project are listed.
    ...(named === undefined ? (field?.examples ?? []) : []).filter((each) => !providers.includes(each)).map(asValue),
  ]
}

const asValue = (label: string): OfferedCompletion => ({ label, kind: 'value' })

/** The values of a field, with the default marked. */
const withDefault = ({ values = [], default: usual }: Field): OfferedCompletion[] =>
  values.map((label) => ({ label, kind: 'value', ...(usual === label && { detail: 'default' }) }))

/** Names of documents, files, secrets or servers for a reference; undefined where the value is not a reference. */
function referenceCompletions(
  workspace: Workspace,
  path: string,
  cursor: DocumentCursor,
  place: string,
): OfferedCompletion[] | undefined {
  const { documents } = workspace
  const base = bundleOf(workspace, path)
  const ofKind = (kind: Document['kind']): IdentifiedDocument[] =>
    documents.filter(isIdentified).filter((each) => each.kind === kind && each.path !== path)
  const ids = (kind: Document['kind'], write: (document: IdentifiedDocument) => string): OfferedCompletion[] => [
    ...new Map(
      ofKind(kind).map((each) => [
        write(each),
        { label: write(each), kind: 'document' as const, detail: each.path, ...descriptionOf(each) },
      ]),
    ).values(),
  ]
  const files = (matches: (file: string) => boolean): OfferedCompletion[] =>
    workspace.files.paths
      .filter((file) => isUnder(base, file) && file !== path && matches(file))
      .map((file) => ({ label: base === '' ? file : file.slice(base.length + 1), kind: 'file' }))
  const documentFiles = (kind: Document['kind']): OfferedCompletion[] => {
    const paths = new Set(ofKind(kind).map((each) => each.path))
    return files((file) => paths.has(file))
  }
  switch (place) {
    case 'Agent spec.tools.*.ref':
      return [
        ...ids('Tool', ({ identity }) => `${identity.id}@^${identity.version}`),
        ...BUILTIN_TOOLS.map((label) => ({ label, kind: 'document' as const, detail: 'built into svc' })),
      ]
    case 'Agent spec.agents.*.ref':
    case 'Bundle spec.root':
      return documentFiles('Agent')
    case 'Agent spec.default_policies.*':
    case 'Agent spec.tools.*.policies.*':
    case 'Agent spec.agents.*.policies.*':
    case 'Tool spec.default_policies.*':
      return ids('Policy', ({ identity }) => identity.id)
    case 'Agent spec.default_policies.*.ref':
    case 'Agent spec.tools.*.policies.*.ref':
    case 'Agent spec.agents.*.policies.*.ref':
      return documentFiles('Policy')
    case 'Policy spec.scope':
      return ids('Tool', ({ identity }) => `tool:${identity.id}`)
    case 'Policy spec.decision.authority_ref':
      return boundaries(documents, 'metadata.governance.authority_boundaries.*')
    case 'Agent metadata.governance.authority_boundaries.*':
      return boundaries(documents, 'spec.decision.authority_ref')
    case 'Agent spec.model.secret':
    case 'Agent spec.mcp_servers.*.auth.secret':
      return keysBelow(cursor.lines, 'secrets').map((label) => ({ label, kind: 'secret' }))
    case 'Agent spec.tools.*.mcp.server':
      return serversIn(cursor.lines).map(asValue)
    case 'Agent spec.instructions.ref':
      return files((file) => /\.(?:md|txt)$/.test(file))
    default:
      return /(?:schema|inputSchema)\.ref$/.test(place)
        ? files((file) => /^\.(?:json|ya?ml)$/.test(extensionOf(file)) && workspace.documentsAt(file).length === 0)
        : undefined
  }
}

const descriptionOf = (document: Document): Pick<OfferedCompletion, 'documentation'> => {
  const [found] = [...document.texts('spec.description'), ...document.texts('spec.purpose')]
  return found === undefined ? {} : { documentation: found.value }
}

const boundaries = (documents: readonly Document[], at: string): OfferedCompletion[] => [
  ...new Map(
    documents
      .flatMap((document) => document.texts(at).map(({ value }) => ({ value, document })))
      .map(({ value, document }) => [
        value,
        { label: value, kind: 'value' as const, detail: document.identity?.id ?? document.path },
      ]),
  ).values(),
]

/** Names of `spec.mcp_servers`, in block or flow style. */
function serversIn(lines: readonly string[]): string[] {
  const [first, ...rest] = lines.slice(lines.findIndex((line) => SERVERS.test(line)))
  if (first === undefined || !SERVERS.test(first)) return []
  const indent = first.search(/\S/)
  const end = rest.findIndex((line) => /^\s*[\w"']/.test(line) && line.search(/\S/) <= indent)
  return [first, ...rest.slice(0, end < 0 ? undefined : end)].flatMap((line) => line.match(SERVER_NAME) ?? [])
}

const SERVERS = /^\s+["']?mcp_servers["']?\s*:/
const SERVER_NAME = /(?<=(?:^\s*|[-{,]\s+|\{)["']?name["']?\s*:\s*["']?)[^\s"'#,}]+/g

/** The directory to which paths in this file are relative. */
function bundleOf(workspace: Workspace, path: string): string {
  const [document] = workspace.documentsAt(path)
  return document === undefined ? directoryOf(path) : workspace.bundleDirectory(document)
}
