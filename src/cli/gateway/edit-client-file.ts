/**
 * Puts svc before the servers of a client's file, and takes it away again. Everything else in the file stays as it is written.
 * Source: docs/design/gate.md#clients-files
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { parseCommentedJson, type CommentedJson, type JsonMember } from '../../import/mcp/commented-json.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import type { KeptFile } from './kept-file.ts'

export interface GateEntry {
  readonly name: string
  readonly value: JsonObject
}

/**
 * @param member with the servers
 * @param staying names of servers that svc does not stand before
 */
export function putGateBefore(
  json: CommentedJson,
  member: string,
  gate: GateEntry,
  staying: ReadonlySet<string>,
): string {
  const { text } = json
  const servers = memberNamed(json, member)
  const own = json.membersAt(servers.valueStart)
  const outer = indentAt(text, servers.start)
  const inner =
    own[0] && text.lastIndexOf('\n', own[0].start) > servers.valueStart ? indentAt(text, own[0].start) : `${outer}  `
  const unit = inner.startsWith(outer) ? inner.slice(outer.length) || '  ' : '  '
  const end = text.includes('\r\n') ? '\r\n' : '\n'
  const entries = [
    `${JSON.stringify(gate.name)}: ${JSON.stringify(gate.value, null, unit).replaceAll('\n', `\n${inner}`)}`,
    ...own.filter(({ name }) => staying.has(name)).map((each) => text.slice(each.start, each.end)),
  ]
  const value = `{\n${entries.map((each) => `${inner}${each}`).join(',\n')}\n${outer}}`
  return splice(text, [{ from: servers.valueStart, to: servers.end, text: value.replace(/\r?\n/g, end) }])
}

/** What a wrapped file is now. */
export type WrappedState =
  /** As svc wrote it, or edited beside what svc wrote. */
  | { readonly at: 'wrapped' | 'edited'; readonly original: Uint8Array }
  /** It does not lead to svc: it was restored, or the rewriting was cut off. */
  | { readonly at: 'plain' }

/**
 * What the file would be without svc. Edits since it was wrapped stay.
 * @param name of the file, as the person gave it
 * @throws Failure `usage` where an edit and the original contradict each other
 */
export function readWrappedState(current: Uint8Array, kept: KeptFile, member: string, name: string): WrappedState {
  const text = Buffer.from(current).toString('utf8')
  if (text === kept.wrapped) return { at: 'wrapped', original: kept.original }
  if (Buffer.compare(current, kept.original) === 0) return { at: 'plain' }
  const now = parseCommentedJson(text, name)
  if (!Object.hasOwn(serversOf(now, member), kept.gate)) return { at: 'plain' }
  return { at: 'edited', original: Buffer.from(withoutGate(now, kept, member, name)) }
}

function withoutGate(now: CommentedJson, kept: KeptFile, member: string, name: string): string {
  const original = parseCommentedJson(Buffer.from(kept.original).toString('utf8'), 'the original')
  const wrapped = parseCommentedJson(kept.wrapped, 'the file that svc wrote')
  const [ours, before, theirs] = [now, wrapped, original].map((each) => serversOf(each, member))
  const raw = new Map(membersOf(now, member).map((each) => [each.name, now.text.slice(each.valueStart, each.end)]))
  const edits = { replaced: new Map<string, string>(), removed: new Set<string>(), added: new Map<string, string>() }
  for (const [server, value] of Object.entries(ours!)) {
    if (server === kept.gate || isSame(value, before![server])) continue
    const known = Object.hasOwn(theirs!, server) ? theirs![server] : undefined
    if (known === undefined) edits.added.set(server, raw.get(server)!)
    else if (Object.hasOwn(before!, server)) edits.replaced.set(server, raw.get(server)!)
    else if (!isSame(known, value))
      throw usageFailure(
        `${name} has a server "${server}" again, and it is not the one from which svc took the name.`,
        'Rename or remove it there, then give the command again. The original is in the file that svc gateway status names.',
      )
  }
  for (const server of Object.keys(before!))
    if (server !== kept.gate && !Object.hasOwn(ours!, server)) edits.removed.add(server)
  const servers = memberNamed(now, member)
  return splice(now.text, [{ from: servers.valueStart, to: servers.end, text: editServers(original, member, edits) }])
}

interface ServerEdits {
  readonly replaced: ReadonlyMap<string, string>
  readonly removed: ReadonlySet<string>
  readonly added: ReadonlyMap<string, string>
}

/** The text of the servers with edits. */
function editServers(json: CommentedJson, member: string, { replaced, removed, added }: ServerEdits): string {
  const { text } = json
  const servers = memberNamed(json, member)
  const own = membersOf(json, member)
  const staying = own.filter(({ name }) => !removed.has(name))
  const splices: Splice[] = own.flatMap(({ name, valueStart, end }) =>
    replaced.has(name) ? [{ from: valueStart, to: end, text: replaced.get(name)! }] : [],
  )
  for (const [at, each] of own.entries()) {
    if (!removed.has(each.name)) continue
    const before = own[at - 1]
    const after = own[at + 1]
    splices.push({
      from: before ? before.end : each.start,
      to: before || !after ? each.end : after.start,
      text: '',
    })
  }
  if (added.size > 0) {
    const last = staying.at(-1)
    const indent = last ? indentAt(text, last.start) : `${indentAt(text, servers.start)}  `
    const entries = [...added].map(([name, value]) => `\n${indent}${JSON.stringify(name)}: ${value}`).join(',')
    const at = last?.end ?? servers.valueStart + 1
    splices.push({ from: at, to: at, text: last ? `,${entries}` : `${entries}\n${indentAt(text, servers.start)}` })
  }
  const shifted = splices.map((each) => ({
    ...each,
    from: each.from - servers.valueStart,
    to: each.to - servers.valueStart,
  }))
  return splice(text.slice(servers.valueStart, servers.end), shifted)
}

interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Replaces places of a text that do not overlap. */
const splice = (text: string, places: readonly Splice[]): string =>
  places
    .toSorted((a, b) => b.from - a.from)
    .reduce((made, { from, to, text: own }) => made.slice(0, from) + own + made.slice(to), text)

/** The blanks before the first word of the line of a place. */
const indentAt = (text: string, place: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', place - 1) + 1, place))![0]

const memberNamed = (json: CommentedJson, name: string): JsonMember => {
  const found = json.membersAt(json.start).find((each) => each.name === name)
  if (found) return found
  throw usageFailure(`The file has no \`${name}\` any more.`, 'Add it again, or copy the original by hand.')
}

const membersOf = (json: CommentedJson, member: string): readonly JsonMember[] =>
  json.membersAt(memberNamed(json, member).valueStart)

const serversOf = ({ value }: CommentedJson, member: string): JsonObject => {
  const servers = value[member]
  return isJsonObject(servers) ? servers : {}
}

const isSame = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b)
