/**
 * One fault, one message. A broken name or key makes other rules report faults that disappear with it: an unused document, an
 * unknown name. Such a follow-up is left out while its cause is reported at the same or a higher severity, so that leaving it
 * out never turns a failed check into a passed one. Source: docs/design/lint.md#schema-errors
 */
import { isJsonObject } from '../../base/json/json.ts'
import { SEVERITIES, type Diagnostic } from '../text/diagnostic.ts'
import { groupBy } from '../../base/values/collections.ts'
import { directoryOf, joinPath } from '../text/paths.ts'
import { segmentsOf, parentPointer } from '../../base/json/pointer.ts'
import { valueAt } from '../../base/json/resolve-pointer.ts'
import { readLogicalRef } from '../text/reference.ts'
import type { RuleName } from '../facts/rule.ts'
import { FOLLOW_UPS, IDENTITY_KEYS, type FollowUp } from './follow-up-table.ts'
import { decodeLoosely } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** Leaves out the findings that others among them explain. */
export function withoutFollowUps(workspace: Workspace, findings: readonly Diagnostic[]): readonly Diagnostic[] {
  if (findings.length < 2) return findings
  const causesOf = causesAmong(findings)
  const reported = new Set<string>()
  const unread = findings.filter(({ rule }) => rule === 'doc/syntax')
  const mistyped = findings.filter(({ facts }) => facts?.wrongValue === true)
  return findings.filter((each) => {
    if (unread.some((cause) => isPartOf(each, cause)) || mistyped.some((cause) => isBelow(each, cause))) return false
    const row = FOLLOW_UPS[each.rule as RuleName]
    if (row === undefined) return true
    if (row.onlyFirst && wasReported(each, reported)) return false
    return !causesOf(each, row).some(
      (cause) =>
        cause !== each &&
        SEVERITIES.indexOf(cause.severity) <= SEVERITIES.indexOf(each.severity) &&
        explains(workspace, cause, each, row),
    )
  })
}

/** Selects the findings that may explain another one by rule and file: comparing all pairs would be quadratic. */
function causesAmong(findings: readonly Diagnostic[]): (each: Diagnostic, row: FollowUp) => readonly Diagnostic[] {
  const byRule = groupBy(findings, ({ rule }) => rule)
  const inSchemas = groupBy(findings.filter(isOfSchema), ({ path }) => path)
  const faults = findings.filter(isOfForm)
  const known = new Map<FollowUp, readonly Diagnostic[]>()
  const anywhere = (row: FollowUp): readonly Diagnostic[] => {
    const { samePlace = [], sameName = [], missingDocuments = [], bundlePath } = row
    const rules = new Set<string>([
      ...samePlace,
      ...sameName,
      ...missingDocuments,
      ...(bundlePath ? [NEEDS_BUNDLE] : []),
    ])
    return [...[...rules].flatMap((rule) => byRule.get(rule) ?? []), ...faults]
  }
  return (each, row) => {
    const causes = known.get(row) ?? anywhere(row)
    known.set(row, causes)
    const below = row.usesRelated ? each.related.flatMap(({ path }) => inSchemas.get(path) ?? []) : []
    return below.length === 0 ? causes : [...causes, ...below]
  }
}

const NEEDS_BUNDLE: RuleName = 'agent/needs-bundle'

/** An error in the form of a document. */
const isOfForm = ({ rule, severity, facts }: Diagnostic): boolean =>
  (rule.startsWith('doc/') || facts?.wrongValue === true) && severity === 'error'

const isOfSchema = ({ rule }: Diagnostic): boolean => rule.startsWith('schema/')

/** True where an earlier finding of the same rule has the same related place; records the places of this one. */
function wasReported({ rule, related }: Diagnostic, reported: Set<string>): boolean {
  const [first, ...others] = related.map(({ path, range }) => `${rule}\n${path}\n${range.start.offset}`)
  const before = first !== undefined && reported.has(first)
  for (const place of first === undefined ? [] : [first, ...others]) reported.add(place)
  return before
}

/** True for a finding inside a value that could not be read, such as an undefined alias. */
const isPartOf = (each: Diagnostic, { path, range: { start, end } }: Diagnostic): boolean =>
  each.rule !== 'doc/syntax' &&
  each.path === path &&
  start.offset <= each.range.start.offset &&
  each.range.end.offset <= end.offset &&
  start.offset < end.offset

/** True for a finding below a value of the wrong type, such as an item of a list where a mapping is required. */
const isBelow = (each: Diagnostic, { path, pointer }: Diagnostic): boolean =>
  !each.rule.startsWith('doc/') && each.path === path && each.pointer.startsWith(`${pointer}/`)

function explains(workspace: Workspace, cause: Diagnostic, each: Diagnostic, row: FollowUp): boolean {
  const rule = cause.rule as RuleName
  if (row.samePlace?.includes(rule) && cause.path === each.path && isNested(cause, each)) return true
  if (row.sameName?.includes(rule) && namesOf(workspace, cause).some((name) => isAboutName(each, name))) return true
  if (row.missingDocuments?.includes(rule))
    return cause.facts?.meant === undefined && areTogether(workspace, cause, each)
  if (row.bundlePath && rule === NEEDS_BUNDLE) return isAbove(workspace, each)
  if (!isOfForm(cause)) return row.usesRelated === true && isUnder(each, cause)
  if (row.sameValue && cause.path === each.path && isIn(cause.pointer, each.pointer)) return true
  if (workspace.documentsAt(cause.path).length === 0)
    return (row.missesDocument === true || row.referencingKeys !== undefined) && mayHold(workspace, cause.path, each)
  const touches = (keys: readonly string[] = [], of?: Diagnostic): boolean =>
    keys.some((key) => isTouched(workspace, cause, key, of))
  return (
    ([each, ...each.related].some(({ path }) => path === cause.path) && touches(row.missingKeys, each)) ||
    (row.usesRelated === true && each.related.some(({ path }) => path === cause.path)) ||
    touches(row.referencingKeys) ||
    (row.missesDocument === true && touches(IDENTITY_KEYS) && mayHold(workspace, cause.path, each))
  )
}

/** True where a schema fault overlaps a related place of the finding. */
const isUnder = ({ related }: Diagnostic, cause: Diagnostic): boolean => {
  const { start, end } = cause.range
  return (
    isOfSchema(cause) &&
    related.some(
      ({ path, range }) => path === cause.path && range.start.offset <= end.offset && start.offset <= range.end.offset,
    )
  )
}

const areTogether = (workspace: Workspace, one: Diagnostic, other: Diagnostic): boolean => {
  const [document] = workspace.documentsAt(one.path)
  const [neighbour] = workspace.documentsAt(other.path)
  return (
    document !== undefined && neighbour !== undefined && workspace.bundleOf(document) === workspace.bundleOf(neighbour)
  )
}

/** True where an unresolved path exists relative to a parent directory. */
function isAbove(workspace: Workspace, each: Diagnostic): boolean {
  const names = namesOf(workspace, each)
  for (let here = directoryOf(each.path); here !== ''; here = directoryOf(here))
    if (names.some((name) => workspace.files.has(joinPath(directoryOf(here), name)))) return true
  return false
}

const isNested = (one: Diagnostic, other: Diagnostic): boolean =>
  isIn(one.pointer, other.pointer) || isIn(other.pointer, one.pointer)

const isIn = (pointer: string, whole: string): boolean => pointer === whole || pointer.startsWith(`${whole}/`)

/** The names written at the finding and its related places, and the name that was meant. */
function namesOf(workspace: Workspace, { path, range, facts, related }: Diagnostic): readonly string[] {
  const at = [{ path, range }, ...related].map((each) =>
    workspace.source(each.path).text.slice(each.range.start.offset, each.range.end.offset),
  )
  return [...at, facts?.meant ?? ''].map(plainName).filter((name) => name !== '')
}

/** Removes quotes, the `tool:` of a scope and the version range of a reference. */
const plainName = (written: string): string =>
  written
    .trim()
    .replaceAll(/^["']|["']$/g, '')
    .replace(/^tool:/, '')
    .replace(/@.*$/, '')

function isAboutName({ facts: { subject = [], meant = '' } = {}, path, rule }: Diagnostic, name: string): boolean {
  if (path.endsWith(name)) return true
  const wanted = rule === 'id/file-name' ? (readLogicalRef(name)?.name ?? name) : name
  return [...subject, meant].map(plainName).some((each) => each === wanted || each.endsWith(`/${wanted}`))
}

/** True for an unreadable file that may hold what a finding misses: its text or its path has the name. */
function mayHold(workspace: Workspace, file: string, each: Diagnostic): boolean {
  const text = `${file}\n${decodeLoosely(workspace.files.read(file))}`
  const own = workspace.documentsAt(each.path).flatMap(({ identity }) => identity?.id ?? [])
  const kind = each.rule === 'agent/needs-bundle' ? ['kind: Bundle'] : []
  const names = [...namesOf(workspace, each), ...own, ...each.related.map(({ path }) => path), each.path, ...kind]
  return names.some((name) => mentions(text, name))
}

function mentions(text: string, name: string): boolean {
  if (text.includes(name)) return true
  const logical = readLogicalRef(name)
  return logical !== undefined && hasWord(text, logical.name)
}

const hasWord = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\w-])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?![\\w-])`).test(text)

/**
 * True when a form error may be why a key is not where a rule looks for it.
 * @param of the finding that misses the key; in a list, only an error in the same item counts
 */
function isTouched(workspace: Workspace, cause: Diagnostic, key: string, of?: Diagnostic): boolean {
  const { path, pointer, rule, facts: { missing = [], meant } = {} } = cause
  const segments = segmentsOf(pointer)
  const wanted = key.split('.')
  if (rule === 'doc/misplaced-key')
    return wanted.some((name) => name === segments.at(-1)) || missing.some((home) => home.startsWith(`${key}.`))
  const isUnknownKey = rule === 'doc/unknown-key'
  const mapping = isUnknownKey ? segments.slice(0, -1) : segments
  if (!leadsTo(mapping, wanted, of?.path === path ? segmentsOf(of.pointer) : ['elsewhere'])) return false
  const next = wanted[mapping.length]
  const values = workspace
    .documentsAt(path)
    .map(({ value }) => valueAt(value, isUnknownKey ? parentPointer(pointer) : pointer))
  // The whole value is wrong, so whatever the rule looks for below it is missing.
  if (!isUnknownKey && (next === undefined || next === '*' || !values.some(isJsonObject))) return true
  if (next === undefined || values.some((value) => isJsonObject(value) && Object.hasOwn(value, next))) return false
  return isUnknownKey ? meant === undefined || meant === next : missing.includes(next)
}

/** True where the mapping is on the way to the wanted key: for `*`, in the same item as the finding that misses it. */
const leadsTo = (mapping: readonly string[], wanted: readonly string[], missed: readonly string[]): boolean => {
  const isSameItem = (at: number): boolean =>
    mapping[at] === missed[at] || mapping.slice(0, at).some((segment, before) => segment !== missed[before])
  return mapping
    .slice(0, wanted.length)
    .every((segment, at) => wanted[at] === segment || (wanted[at] === '*' && isSameItem(at)))
}
