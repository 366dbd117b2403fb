/**
 * One fault, one message. A broken name or key makes other rules say what would go away with it: nobody uses this, nothing is
 * called that. Such a follow-up is left out while the finding that caused it stands and is no milder, so that leaving it out
 * never turns a bad verdict into a good one. Source: lint rules, "From schema errors to messages".
 */
import { isJsonObject } from '../../base/json.ts'
import { SEVERITIES, type Diagnostic } from '../text/diagnostic.ts'
import { groupBy } from '../text/group.ts'
import { directoryOf, joinPath } from '../text/paths.ts'
import { segmentsOf } from '../text/pointer.ts'
import { readLogicalRef } from '../text/reference.ts'
import type { RuleName } from '../facts/rule.ts'
import { valueAt } from '../workspace/shape.ts'
import { looseText } from '../text/source.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** What makes a rule speak without anything more being wrong. Keys are dotted paths. */
interface FollowUp {
  /** Keys of the document, or of one that it shows, whose absence the rule speaks of. */
  readonly lacks?: readonly string[]
  /** Keys with which any document names what the rule takes to be unused or unlinked. */
  readonly users?: readonly string[]
  /** True when the rule misses a document: one that cannot be read, or whose name cannot, may be it. */
  readonly document?: true
  /** True when the rule reasons about documents that it shows. */
  readonly rests?: true
  /** Rules that speak of the same name. */
  readonly after?: readonly RuleName[]
  /** Rules that speak of the same place. */
  readonly here?: readonly RuleName[]
  /** Rules that miss a whole document, which may use or define what this one speaks of. */
  readonly gaps?: readonly RuleName[]
  /** True when the rule has no use for the value there: what is wrong with the form of the value is said first. */
  readonly value?: true
  /** True when a path is looked for from the directory of the bundle. */
  readonly path?: true
  /** True when two uses of one document lack what that document could say once. */
  readonly once?: true
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
  'doc/version-without-ref': { value: true },
  'id/file-name': { after: ['tool/unresolved', 'policy/attachment-missing'] },
  'agent/needs-bundle': { document: true },
  'agent/owner-missing': { lacks: ['metadata.owner'] },
  'agent/instructions-missing-file': { path: true },
  'agent/no-tools-but-policies': { value: true, here: ['policy/attachment-missing'] },
  'model/base-url-invalid': { value: true },
  'model/base-url-insecure': { value: true },
  'model/base-url-full-path': { value: true },
  'model/secret-undeclared': { lacks: ['secrets'], value: true },
  'model/secret-implicit-missing': { lacks: ['spec.model.secret', 'secrets'] },
  'secret/undeclared': { lacks: ['secrets'], value: true },
  'secret/unused': {
    lacks: ['spec.model.secret', 'spec.mcp_servers.*.auth.secret'],
    after: ['model/secret-undeclared', 'secret/undeclared', 'model/secret-implicit-missing'],
  },
  'limits/missing-loop': { lacks: ['spec.limits.max_loop_iterations'] },
  'limits/missing-tokens': { lacks: ['spec.limits.max_tokens_per_run'] },
  'output/schema-without-json': { lacks: ['output.format'] },
  'output/strict-without-schema': { lacks: ['output.schema'], value: true },
  'output/on-invalid-without-schema': { lacks: ['output.schema'], value: true },
  'output/strict-missing': { lacks: ['output.strict'] },
  'schema/not-object': { rests: true, here: ['schema/invalid'] },
  'schema/open-object': { here: ['schema/not-object', 'schema/invalid'] },
  'schema/unbounded-string': { here: ['schema/invalid'] },
  'schema/ref-missing': { path: true },
  'tool/unresolved': { lacks: ['spec.tools.*.mcp'], document: true, after: ['id/invalid-semver'] },
  'tool/description-missing': { lacks: ['spec.description', 'spec.tools.*.description'], once: true },
  'tool/class-missing': { lacks: ['spec.side_effect_class', 'spec.tools.*.side_effect_class'], once: true },
  'tool/no-input-schema': { lacks: ['spec.input_schema', 'spec.tools.*.input_schema'], once: true },
  'tool/unused-document': {
    lacks: IDENTITY,
    users: ['spec.tools.*.ref'],
    document: true,
    after: TOOL_NAMES,
    gaps: GAPS,
  },
  'mcp/header-ignored': { value: true, here: ['mcp/header-invalid'] },
  'mcp/server-undeclared': { lacks: ['spec.mcp_servers.*.name'] },
  'mcp/server-unused': { lacks: ['spec.tools.*.mcp.server'], after: ['mcp/server-undeclared'] },
  'mcp/no-auth': { lacks: ['spec.mcp_servers.*.auth'], here: ['secret/in-url'] },
  'mcp/no-contract': { lacks: ['spec.tools.*.input_schema'] },
  'subagent/missing': { document: true, path: true },
  'subagent/description-missing': { lacks: ['spec.agents.*.description'] },
  'policy/no-decision': { lacks: ['spec.decision'] },
  'policy/attachment-missing': { document: true, path: true },
  'policy/allow-without-type': { value: true },
  'policy/unused-document': {
    lacks: [...IDENTITY, 'spec.decision.authority_ref'],
    users: POLICY_USERS,
    document: true,
    after: ['policy/attachment-missing'],
    gaps: GAPS,
  },
  'policy/scope-mismatch': { lacks: IDENTITY, rests: true, after: SCOPE_NAMES },
  'policy/scope-unknown-tool': {
    users: ['spec.tools.*.ref', ...IDENTITY],
    document: true,
    after: ['policy/scope-mismatch', 'authority/ineffective', ...TOOL_NAMES],
    gaps: GAPS,
  },
  'policy/condition-field': { here: ['policy/field-not-in-schema'] },
  'policy/field-not-in-schema': { rests: true, after: SCHEMA_FAULTS },
  'policy/type-mismatch': { rests: true },
  'policy/never-true': { rests: true },
  'policy/always-true': { rests: true },
  'policy/optional-field': { rests: true, after: SCHEMA_FAULTS },
  'policy/shadowed': { rests: true },
  'policy/unreachable-approval': { rests: true },
  'approval/fields-ignored': {
    value: true,
    here: ['approval/count-range', 'approval/timeout-range', 'approval/on-reject-value', 'approval/on-modify-value'],
  },
  'approval/reason-missing': { lacks: ['spec.decision.reason'] },
  'authority/unresolved': {
    users: ['spec.decision.authority_ref'],
    document: true,
    gaps: ['policy/attachment-missing'],
  },
  'authority/orphan-ref': {
    users: ['metadata.governance.authority_boundaries.*'],
    document: true,
    after: ['authority/unresolved'],
    gaps: GAPS,
  },
  'authority/ineffective': {
    users: ['spec.tools.*.ref'],
    rests: true,
    after: ['policy/scope-mismatch', ...SCOPE_NAMES],
  },
  'bundle/root-missing': { document: true },
  'bundle/external-unpinned': { lacks: ['spec.agents.*.late_bound'] },
  'bundle/lock-missing': { after: TOOL_NAMES },
  'bundle/unreferenced-file': {
    users: PATH_USERS,
    document: true,
    after: ['agent/instructions-missing-file', ...SCHEMA_FAULTS],
    gaps: GAPS,
  },
  'security/blanket-allow-irreversible': { lacks: ['spec.conditions'], rests: true },
  'security/irreversible-without-approval': { rests: true },
  'security/write-without-approval': { rests: true },
  'security/data-uri-image': { lacks: ['output.format'] },
}

/** The findings without those that others among them explain. */
export function withoutFollowUps(workspace: Workspace, findings: readonly Diagnostic[]): readonly Diagnostic[] {
  if (findings.length < 2) return findings
  const causesOf = causesAmong(findings)
  const shown = new Set<string>()
  const unread = findings.filter(({ rule }) => rule === 'doc/syntax')
  const mistyped = findings.filter(({ facts }) => facts?.wrongValue === true)
  return findings.filter((each) => {
    if (unread.some((cause) => isPartOf(each, cause)) || mistyped.some((cause) => isBelow(each, cause))) return false
    const row = FOLLOW_UPS[each.rule as RuleName]
    if (row === undefined) return true
    if (row.once && isShown(each, shown)) return false
    return !causesOf(each, row).some(
      (cause) =>
        cause !== each &&
        SEVERITIES.indexOf(cause.severity) <= SEVERITIES.indexOf(each.severity) &&
        explains(workspace, cause, each, row),
    )
  })
}

/** Finds those that may explain a finding: of thousands, few are of the rules and files that are asked about. */
function causesAmong(findings: readonly Diagnostic[]): (each: Diagnostic, row: FollowUp) => readonly Diagnostic[] {
  const byRule = groupBy(findings, ({ rule }) => rule)
  const inSchemas = groupBy(findings.filter(isOfSchema), ({ path }) => path)
  const faults = findings.filter(isOfForm)
  const known = new Map<FollowUp, readonly Diagnostic[]>()
  const anywhere = (row: FollowUp): readonly Diagnostic[] => {
    const { here = [], after = [], gaps = [], path } = row
    const rules = new Set<string>([...here, ...after, ...gaps, ...(path ? [NEEDS_BUNDLE] : [])])
    return [...[...rules].flatMap((rule) => byRule.get(rule) ?? []), ...faults]
  }
  return (each, row) => {
    const causes = known.get(row) ?? anywhere(row)
    known.set(row, causes)
    const below = row.rests ? each.related.flatMap(({ path }) => inSchemas.get(path) ?? []) : []
    return below.length === 0 ? causes : [...causes, ...below]
  }
}

const NEEDS_BUNDLE: RuleName = 'agent/needs-bundle'

/** What is wrong with the form of a document. */
const isOfForm = ({ rule, severity }: Diagnostic): boolean => rule.startsWith('doc/') && severity === 'error'

const isOfSchema = ({ rule }: Diagnostic): boolean => rule.startsWith('schema/')

/** True where a finding of the rule before it shows the same place. */
function isShown({ rule, related }: Diagnostic, shown: Set<string>): boolean {
  const [first, ...others] = related.map(({ path, range }) => `${rule}\n${path}\n${range.start.offset}`)
  const before = first !== undefined && shown.has(first)
  for (const place of first === undefined ? [] : [first, ...others]) shown.add(place)
  return before
}

/** True for what a rule says of a value that could not be read: an alias of nothing, a number that is none. */
const isPartOf = (each: Diagnostic, { path, range: { start, end } }: Diagnostic): boolean =>
  each.rule !== 'doc/syntax' &&
  each.path === path &&
  start.offset <= each.range.start.offset &&
  each.range.end.offset <= end.offset &&
  start.offset < end.offset

/** True for what a rule says of the members of a list where a mapping is wanted, and the like. */
const isBelow = (each: Diagnostic, { path, pointer }: Diagnostic): boolean =>
  !each.rule.startsWith('doc/') && each.path === path && each.pointer.startsWith(`${pointer}/`)

function explains(workspace: Workspace, cause: Diagnostic, each: Diagnostic, row: FollowUp): boolean {
  const rule = cause.rule as RuleName
  if (row.here?.includes(rule) && cause.path === each.path && isNested(cause, each)) return true
  if (row.after?.includes(rule) && namesOf(workspace, cause).some((name) => speaksOf(each, name))) return true
  if (row.gaps?.includes(rule)) return cause.facts?.meant === undefined && areTogether(workspace, cause, each)
  if (row.path && rule === NEEDS_BUNDLE) return isAbove(workspace, each)
  if (!isOfForm(cause)) return row.rests === true && isUnder(each, cause)
  if (row.value && cause.path === each.path && isIn(cause.pointer, each.pointer)) return true
  if (workspace.documentsAt(cause.path).length === 0)
    return (row.document === true || row.users !== undefined) && mayHold(workspace, cause.path, each)
  const touches = (keys: readonly string[] = [], of?: Diagnostic): boolean =>
    keys.some((key) => isTouched(workspace, cause, key, of))
  return (
    ([each, ...each.related].some(({ path }) => path === cause.path) && touches(row.lacks, each)) ||
    (row.rests === true && each.related.some(({ path }) => path === cause.path)) ||
    touches(row.users) ||
    (row.document === true && touches(IDENTITY) && mayHold(workspace, cause.path, each))
  )
}

/** True where a fault of a schema stands at a place that the finding shows. */
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

/** True where a path that was looked for in vain would be found from a directory further up. */
function isAbove(workspace: Workspace, each: Diagnostic): boolean {
  const names = namesOf(workspace, each)
  for (let here = directoryOf(each.path); here !== ''; here = directoryOf(here))
    if (names.some((name) => workspace.files.has(joinPath(directoryOf(here), name)))) return true
  return false
}

const isNested = (one: Diagnostic, other: Diagnostic): boolean =>
  isIn(one.pointer, other.pointer) || isIn(other.pointer, one.pointer)

const isIn = (pointer: string, whole: string): boolean => pointer === whole || pointer.startsWith(`${whole}/`)

/** The name that stands there, and the one that was surely meant. */
function namesOf(workspace: Workspace, { path, range, facts, related }: Diagnostic): readonly string[] {
  const at = [{ path, range }, ...related].map((each) =>
    workspace.source(each.path).text.slice(each.range.start.offset, each.range.end.offset),
  )
  return [...at, facts?.meant ?? ''].map(plainName).filter((name) => name !== '')
}

/** Without quotes, the `tool:` of a scope and the range of a reference. */
const plainName = (written: string): string =>
  written
    .trim()
    .replaceAll(/^["']|["']$/g, '')
    .replace(/^tool:/, '')
    .replace(/@.*$/, '')

function speaksOf({ facts: { subject = [], meant = '' } = {}, path, rule }: Diagnostic, name: string): boolean {
  if (path.endsWith(name)) return true
  const wanted = rule === 'id/file-name' ? (readLogicalRef(name)?.name ?? name) : name
  return [...subject, meant].map(plainName).some((each) => each === wanted || each.endsWith(`/${wanted}`))
}

/** A file that cannot be read may hold what a finding misses when it says the name, or is called so. */
function mayHold(workspace: Workspace, file: string, each: Diagnostic): boolean {
  const text = `${file}\n${looseText(workspace.files.read(file))}`
  const own = workspace.documentsAt(each.path).flatMap(({ identity }) => identity?.id ?? [])
  const kind = each.rule === 'agent/needs-bundle' ? ['kind: Bundle'] : []
  const names = [...namesOf(workspace, each), ...own, ...each.related.map(({ path }) => path), each.path, ...kind]
  return names.some((name) => says(text, name))
}

function says(text: string, name: string): boolean {
  if (text.includes(name)) return true
  const logical = readLogicalRef(name)
  return logical !== undefined && hasWord(text, logical.name)
}

const hasWord = (text: string, word: string): boolean =>
  new RegExp(`(?<![\\w-])${word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?![\\w-])`).test(text)

/**
 * True when what is wrong with the form may be why a key is not where a rule looks for it.
 * @param of the finding that misses it: of several items of a list, the same one is meant
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
