/**
 * One fault, one message. A broken name or key makes other rules report faults that disappear with it: an unused document, an
 * unknown name. Such a follow-up is left out while its cause is reported at the same or a higher severity, so that leaving it
 * out never turns a failed check into a passed one. Source: lint rules, "From schema errors to messages".
 */
import { isJsonObject } from '../../base/json/json.ts'
import { SEVERITIES, type Diagnostic } from '../text/diagnostic.ts'
import { groupBy } from '../text/group.ts'
import { directoryOf, joinPath } from '../text/paths.ts'
import { segmentsOf } from '../../base/json/pointer.ts'
import { valueAt } from '../../base/json/resolve-pointer.ts'
import { readLogicalRef } from '../text/reference.ts'
import type { RuleName } from '../facts/rule.ts'
import { decodeLoosely } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** When a finding of a rule is only the consequence of another finding. Keys are dotted paths. */
interface FollowUp {
  /** Keys whose absence the rule reports, in the document or in a related one. */
  readonly missingKeys?: readonly string[]
  /** Keys through which any document could refer to what the rule reports as unused or unlinked. */
  readonly referencingKeys?: readonly string[]
  /** True when the rule misses a document, which may be one that cannot be read or that has no readable name. */
  readonly missesDocument?: true
  /** True when the rule draws conclusions from its related documents. */
  readonly usesRelated?: true
  /** Rules that report the same name. */
  readonly sameName?: readonly RuleName[]
  /** Rules that report the same place. */
  readonly samePlace?: readonly RuleName[]
  /** Rules that miss a whole document, which may use or define what this rule reports. */
  readonly missingDocuments?: readonly RuleName[]
  /** True when a form error of the same value comes first: the rule cannot judge such a value. */
  readonly sameValue?: true
  /** True when the rule resolves a path from the directory of the bundle. */
  readonly bundlePath?: true
  /** True when several uses lack what their common document could declare once: only the first is reported. */
  readonly onlyFirst?: true
}

const IDENTITY = ['metadata.namespace', 'metadata.name', 'metadata.version']
const POLICY_USERS = ['spec.default_policies.*.ref', 'spec.tools.*.policies.*.ref', 'spec.agents.*.policies.*.ref']
const PATH_USERS = [
  'spec.instructions.ref',
  'output.schema.ref',
  'spec.input_schema.ref',
  'spec.output_schema.ref',
  'spec.tools.*.input_schema.ref',
  'spec.agents.*.input_schema.ref',
  'metadata.annotations.*',
  'spec.agents.*.ref',
  'spec.root',
]
const GAPS: readonly RuleName[] = ['bundle/root-missing', 'subagent/missing', 'tool/unresolved']
const TOOL_NAMES: readonly RuleName[] = ['tool/unresolved', 'tool/range-invalid', 'tool/ref-syntax']
const SCOPE_NAMES: readonly RuleName[] = ['policy/scope-syntax', ...TOOL_NAMES]
const SCHEMA_FAULTS: readonly RuleName[] = ['schema/invalid', 'schema/required-undefined', 'schema/ref-missing']

const FOLLOW_UPS: Readonly<Partial<Record<RuleName, FollowUp>>> = {
  'doc/version-without-ref': { sameValue: true },
  'id/file-name': { sameName: ['tool/unresolved', 'policy/attachment-missing'] },
  'agent/needs-bundle': { missesDocument: true },
  'agent/owner-missing': { missingKeys: ['metadata.owner'] },
  'tool/effect-key-missing': { missingKeys: ['metadata.labels.svc/effect-key'] },
  'tool/undo-undeclared': { missingKeys: ['metadata.labels.svc/undone-by'] },
  'agent/instructions-missing-file': { bundlePath: true },
  'agent/no-tools-but-policies': { sameValue: true, samePlace: ['policy/attachment-missing'] },
  'model/base-url-invalid': { sameValue: true },
  'model/base-url-insecure': { sameValue: true },
  'model/base-url-full-path': { sameValue: true },
  'model/secret-undeclared': { missingKeys: ['secrets'], sameValue: true },
  'model/secret-implicit-missing': { missingKeys: ['spec.model.secret', 'secrets'] },
  'secret/undeclared': { missingKeys: ['secrets'], sameValue: true },
  'secret/unused': {
    missingKeys: ['spec.model.secret', 'spec.mcp_servers.*.auth.secret'],
    sameName: ['model/secret-undeclared', 'secret/undeclared', 'model/secret-implicit-missing'],
  },
  'limits/missing-loop': { missingKeys: ['spec.limits.max_loop_iterations'] },
  'limits/missing-tokens': { missingKeys: ['spec.limits.max_tokens_per_run'] },
  'output/schema-without-json': { missingKeys: ['output.format'] },
  'output/strict-without-schema': { missingKeys: ['output.schema'], sameValue: true },
  'output/on-invalid-without-schema': { missingKeys: ['output.schema'], sameValue: true },
  'output/strict-missing': { missingKeys: ['output.strict'] },
  'schema/not-object': { usesRelated: true, samePlace: ['schema/invalid'] },
  'schema/open-object': { samePlace: ['schema/not-object', 'schema/invalid'] },
  'schema/unbounded-string': { samePlace: ['schema/invalid'] },
  'schema/ref-missing': { bundlePath: true },
  'tool/unresolved': { missingKeys: ['spec.tools.*.mcp'], missesDocument: true, sameName: ['id/invalid-semver'] },
  'tool/description-missing': { missingKeys: ['spec.description', 'spec.tools.*.description'], onlyFirst: true },
  'tool/class-missing': { missingKeys: ['spec.side_effect_class', 'spec.tools.*.side_effect_class'], onlyFirst: true },
  'tool/no-input-schema': { missingKeys: ['spec.input_schema', 'spec.tools.*.input_schema'], onlyFirst: true },
  'tool/unused-document': {
    missingKeys: IDENTITY,
    referencingKeys: ['spec.tools.*.ref'],
    missesDocument: true,
    sameName: TOOL_NAMES,
    missingDocuments: GAPS,
  },
  'mcp/header-ignored': { sameValue: true, samePlace: ['mcp/header-invalid'] },
  'mcp/server-undeclared': { missingKeys: ['spec.mcp_servers.*.name'] },
  'mcp/server-unused': { missingKeys: ['spec.tools.*.mcp.server'], sameName: ['mcp/server-undeclared'] },
  'mcp/no-auth': { missingKeys: ['spec.mcp_servers.*.auth'], samePlace: ['secret/in-url'] },
  'mcp/no-contract': { missingKeys: ['spec.tools.*.input_schema'] },
  'subagent/missing': { missesDocument: true, bundlePath: true },
  'subagent/description-missing': { missingKeys: ['spec.agents.*.description'] },
  'policy/no-decision': { missingKeys: ['spec.decision'] },
  'policy/attachment-missing': { missesDocument: true, bundlePath: true },
  'policy/allow-without-type': { sameValue: true },
  'policy/unused-document': {
    missingKeys: [...IDENTITY, 'spec.decision.authority_ref'],
    referencingKeys: POLICY_USERS,
    missesDocument: true,
    sameName: ['policy/attachment-missing'],
    missingDocuments: GAPS,
  },
  'policy/scope-mismatch': { missingKeys: IDENTITY, usesRelated: true, sameName: SCOPE_NAMES },
  'policy/scope-unknown-tool': {
    referencingKeys: ['spec.tools.*.ref', ...IDENTITY],
    missesDocument: true,
    sameName: ['policy/scope-mismatch', 'authority/ineffective', ...TOOL_NAMES],
    missingDocuments: GAPS,
  },
  'policy/condition-field': { samePlace: ['policy/field-not-in-schema'] },
  'policy/field-not-in-schema': { usesRelated: true, sameName: SCHEMA_FAULTS },
  'policy/type-mismatch': { usesRelated: true, samePlace: ['doc/number-range'] },
  'policy/never-true': { usesRelated: true },
  'policy/always-true': { usesRelated: true },
  'policy/optional-field': { usesRelated: true, sameName: SCHEMA_FAULTS },
  'policy/shadowed': { usesRelated: true },
  'policy/unreachable-approval': { usesRelated: true },
  'approval/fields-ignored': {
    sameValue: true,
    samePlace: [
      'approval/count-range',
      'approval/timeout-range',
      'approval/on-reject-value',
      'approval/on-modify-value',
    ],
  },
  'approval/reason-missing': { missingKeys: ['spec.decision.reason'] },
  'authority/unresolved': {
    referencingKeys: ['spec.decision.authority_ref'],
    missesDocument: true,
    missingDocuments: ['policy/attachment-missing'],
  },
  'authority/orphan-ref': {
    referencingKeys: ['metadata.governance.authority_boundaries.*'],
    missesDocument: true,
    sameName: ['authority/unresolved'],
    missingDocuments: GAPS,
  },
  'authority/ineffective': {
    referencingKeys: ['spec.tools.*.ref'],
    usesRelated: true,
    sameName: ['policy/scope-mismatch', ...SCOPE_NAMES],
  },
  'bundle/root-missing': { missesDocument: true },
  'bundle/external-unpinned': { missingKeys: ['spec.agents.*.late_bound'] },
  'bundle/lock-missing': { sameName: TOOL_NAMES },
  'bundle/unreferenced-file': {
    referencingKeys: PATH_USERS,
    missesDocument: true,
    sameName: ['agent/instructions-missing-file', ...SCHEMA_FAULTS],
    missingDocuments: GAPS,
  },
  'security/blanket-allow-irreversible': { missingKeys: ['spec.conditions'], usesRelated: true },
  'security/irreversible-without-approval': { usesRelated: true },
  'security/write-without-approval': { usesRelated: true },
  'security/data-uri-image': { missingKeys: ['output.format'] },
}

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
const isOfForm = ({ rule, severity }: Diagnostic): boolean => rule.startsWith('doc/') && severity === 'error'

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
    (row.missesDocument === true && touches(IDENTITY) && mayHold(workspace, cause.path, each))
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
    return wanted.includes(segments.at(-1)!) || missing.some((home) => home.startsWith(`${key}.`))
  const stray = rule === 'doc/unknown-key'
  const parent = stray ? segments.slice(0, -1) : segments
  const missed = of?.path === path ? segmentsOf(of.pointer) : ['elsewhere']
  const isSameItem = (at: number): boolean =>
    parent[at] === missed[at] || parent.slice(0, at).some((segment, before) => segment !== missed[before])
  const leadsThere = parent
    .slice(0, wanted.length)
    .every((segment, at) => wanted[at] === segment || (wanted[at] === '*' && isSameItem(at)))
  if (!leadsThere) return false
  const next = wanted[parent.length]
  const holders = workspace.documentsAt(path).map(({ value }) => valueAt(value, stray ? parentOf(pointer) : pointer))
  if (!stray && (next === undefined || next === '*' || !holders.some(isJsonObject))) return true
  if (next === undefined || holders.some((value) => isJsonObject(value) && Object.hasOwn(value, next))) return false
  return stray ? meant === undefined || meant === next : missing.includes(next)
}

const parentOf = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'))
