/** Every place of a project that declares or names a document, a file, an authority boundary, a secret or an MCP server. */
import type { JsonValue } from '../../base/json/json.ts'
import type { DocumentKind } from '../../spec/document.ts'
import { attachmentsOf, scopeOf } from '../facts/policies/attachments.ts'
import { toolDocument, toolsOf } from '../facts/agents/bindings.ts'
import { leavesIn } from '../facts/policies/conditions.ts'
import { pathsIn } from '../facts/path-refs.ts'
import { createSpans, type Document, type FoundText } from '../text/document.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { readLogicalRef } from '../text/reference.ts'
import type { SourceText, TextSpan } from '../text/source.ts'
import { readYaml } from '../text/yaml.ts'
import { memoizePerWorkspace } from '../workspace/memoize.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { ownMember } from '../../base/json/own-member.ts'
import { READ_BY_OTHER_COMMANDS } from '../workspace/load.ts'

/** A document, or the key of something that is no document: `file:schemas/a.json`. Two places mean the same where the targets are equal. */
export type NameTarget = Document | string

export interface NamePlace {
  readonly path: string
  /** The name alone, without quotes, prefix and version where it is spelled out; else the whole value. */
  readonly range: TextSpan
  readonly isDeclaration: boolean
  /** The named targets; empty if the reference leads nowhere. */
  readonly targets: readonly NameTarget[]
  /** How a document's identity is spelled here; absent where it is not, such as in a path or behind a YAML alias. */
  readonly spelling?: 'id' | 'name'
}

/** In the order of the documents, then the scenarios, policy tests and project files. */
export const namePlaces = memoizePerWorkspace((workspace): readonly NamePlace[] => [
  ...workspace.documents.flatMap((document) => placesInDocument(workspace, document)),
  ...workspace.files.paths
    .filter((path) => READ_BY_OTHER_COMMANDS.test(path))
    .flatMap((path) => placesInOtherFile(workspace, path)),
])

export const namePlaceAt = (workspace: Workspace, path: string, offset: number): NamePlace | undefined =>
  namePlaces(workspace).find(
    (place) => place.path === path && place.range.start.offset <= offset && offset <= place.range.end.offset,
  )

/** All places that name what a place names, its declarations included. */
export const placesOfTargets = (workspace: Workspace, targets: readonly NameTarget[]): readonly NamePlace[] =>
  namePlaces(workspace).filter((place) => place.targets.some((target) => targets.includes(target)))

export const fileTarget = (path: string): string => `file:${path}`
export const pathOfFileTarget = (target: NameTarget): string | undefined =>
  typeof target === 'string' && target.startsWith('file:') ? target.slice('file:'.length) : undefined

function placesInDocument(workspace: Workspace, document: Document): NamePlace[] {
  const { path, source } = document
  const idPlace = (at: { readonly range: TextSpan }, id: string, targets: readonly Document[]): NamePlace =>
    spelledPlace(source, at.range, id, targets)
  const localPlaces = (places: readonly string[], group: string, isDeclaration = false): NamePlace[] =>
    places.flatMap((place) =>
      document.texts(place).map(({ range, value }) => ({
        path,
        range,
        isDeclaration,
        targets: [`${group}:${value}`],
      })),
    )
  const own = `${path}#${document.index}`
  const boundaryGroup = `boundary:${workspace.bundleOf(document) ?? '-'}`
  return [
    ...(document.identity === undefined ? [] : document.texts('metadata.name')).map((at): NamePlace => ({
      ...spelledPlace(source, at.range, at.value, [document], 'name'),
      isDeclaration: true,
    })),
    ...toolsOf(document).flatMap((use) => {
      const at = document.texts('spec.tools.*.ref').find(({ pointer }) => pointer === `${use.pointer}/ref`)
      if (at === undefined || use.ref === undefined) return []
      const tool = toolDocument(workspace, use)
      return [idPlace(at, use.ref.id, tool === undefined ? workspace.find(document, 'Tool', use.ref.id) : [tool])]
    }),
    ...document.texts('spec.agents.*.ref').flatMap((at) => {
      const id = readLogicalRef(at.value)?.id
      if (id === undefined) return []
      const agents = workspace.find(document, 'Agent', id)
      return agents.length === 0 ? [] : [idPlace(at, id, agents)]
    }),
    ...attachmentsOf(workspace, document)
      .filter(({ resolution }) => resolution === undefined)
      .map(({ at, written, policies }) => idPlace(at, written, policies)),
    ...pathsIn(document).flatMap((at) => pathPlace(workspace, document, at)),
    ...document.texts('spec.scope').flatMap((at) => {
      const id = scopeOf(document)
      return id === undefined ? [] : [idPlace(at, id, workspace.find(document, 'Tool', id))]
    }),
    ...comparedIds(document).map(({ kind, id, pointer }) =>
      idPlace(document.placeOf(pointer), id, workspace.find(document, kind, id)),
    ),
    ...localPlaces(['metadata.governance.authority_boundaries.*'], boundaryGroup, true),
    ...localPlaces(['spec.decision.authority_ref'], boundaryGroup),
    ...document.at('secrets.*').map(({ key, keyRange }) => ({
      path,
      range: keyRange,
      isDeclaration: true,
      targets: [`secret:${own}:${key}`],
    })),
    ...localPlaces(['spec.model.secret', 'spec.mcp_servers.*.auth.secret'], `secret:${own}`),
    ...localPlaces(['spec.mcp_servers.*.name'], `server:${own}`, true),
    ...localPlaces(['spec.tools.*.mcp.server'], `server:${own}`),
  ]
}

/** A path means the document that its place asks for, or else the file. */
function pathPlace(workspace: Workspace, document: Document, { value, pointer, range }: FoundText): NamePlace[] {
  const resolved = workspace.resolve(document, value)
  if (!('path' in resolved)) return []
  const documents = workspace.documentsAt(resolved.path)
  const kind = /policies\/\d+\/ref$/.test(pointer) ? 'Policy' : 'Agent'
  const target = documents.find((each) => each.kind === kind) ?? documents[0] ?? fileTarget(resolved.path)
  return [{ path: document.path, range, isDeclaration: false, targets: [target] }]
}

const KIND_OF_FIELD: Readonly<Record<string, DocumentKind>> = { 'tool.id': 'Tool', 'agent.id': 'Agent' }

/** Ids with which conditions compare `tool.id` and `agent.id`. */
function comparedIds(
  policy: Document,
): { readonly kind: DocumentKind; readonly id: string; readonly pointer: string }[] {
  return leavesIn(policy).flatMap(({ pointer, leaf }) => {
    const kind = ownMember(KIND_OF_FIELD, leaf.path.text)
    if (kind === undefined) return []
    const isText = pointer.includes('@')
    const place = isText ? pointer : `${pointer}/value`
    const named = (value: JsonValue, at: string) =>
      typeof value === 'string' ? [{ kind, id: value, pointer: at } as const] : []
    return Array.isArray(leaf.value)
      ? leaf.value.flatMap((value, index) => named(value, isText ? place : pointerTo(place, index)))
      : named(leaf.value, place)
  })
}

/** Where these files name documents, by the kinds that may stand there. The keys of `tools` are ids, too. */
const OTHER_PLACES: readonly (readonly [place: string, ...kinds: DocumentKind[]])[] = [
  ['agent', 'Agent'],
  ['triggers.*.agent', 'Agent'],
  ['calls.*.tool', 'Tool', 'Agent'],
  ['calls.*.by', 'Policy'],
  ['decide.*.tool', 'Tool', 'Agent'],
  ['expect.calls.*.tool', 'Tool', 'Agent'],
  ['expect.decisions.*.tool', 'Tool', 'Agent'],
  ['expect.decisions.*.by', 'Policy'],
]

function placesInOtherFile(workspace: Workspace, path: string): NamePlace[] {
  const source = workspace.source(path)
  return readYaml(source).roots.flatMap((root) => {
    const spans = createSpans(source, root)
    const name = (range: TextSpan, written: string, kinds: readonly DocumentKind[]): NamePlace[] => {
      const id = written.replace(/@.*$/, '')
      const documents = kinds.flatMap((kind) => workspace.find({ path }, kind, id))
      return documents.length === 0 ? [] : [spelledPlace(source, range, id, documents)]
    }
    return [
      ...spans.at('tools.*').flatMap(({ key, keyRange }) => name(keyRange, key, ['Tool'])),
      ...OTHER_PLACES.flatMap(([place, ...kinds]) =>
        spans.texts(place).flatMap(({ range, value }) => name(range, value, kinds)),
      ),
    ]
  })
}

/** The part of a value that spells a name. */
function spelledPlace(
  source: SourceText,
  range: TextSpan,
  name: string,
  targets: readonly NameTarget[],
  spelling: 'id' | 'name' = 'id',
): NamePlace {
  const { path, text } = source
  const written = text.slice(range.start.offset, range.end.offset)
  const literal = name.replaceAll(/[^\w\s]/g, String.raw`\$&`)
  const at = new RegExp(`(?<![\\w.-])${literal}(?![\\w.-])`).exec(written)?.index
  if (at === undefined) return { path, range, isDeclaration: false, targets }
  const start = range.start.offset + at
  return { path, range: source.span(start, start + name.length), isDeclaration: false, targets, spelling }
}
