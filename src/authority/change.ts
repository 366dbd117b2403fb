/**
 * The kinds of changes between two versions, and the version bump that each requires.
 * Source: docs/design/bundles-and-authority.md#what-a-change-requires
 */
import { canonicalJson, type JsonValue } from '../base/json/json.ts'
import type { AuthorityVerdict } from './prove-authority.ts'
import type { WitnessCall } from './witness.ts'

export type ChangeSeverity = 'major' | 'minor' | 'patch'

interface ChangeRow {
  readonly severity: ChangeSeverity
  /** True if a version may do what its predecessor could not: publishing it needs `--allow-widen`. */
  readonly widens?: boolean
}

export const CHANGES = {
  'authority.widened': { severity: 'major', widens: true },
  'authority.narrowed': { severity: 'minor' },
  'authority.equal': { severity: 'patch' },
  'gate.removed': { severity: 'major', widens: true },
  'default_policy.removed': { severity: 'major', widens: true },
  'boundary.removed': { severity: 'major', widens: true },
  'boundary.added': { severity: 'minor' },
  'class.raised': { severity: 'major', widens: true },
  'class.lowered': { severity: 'minor' },
  'taint_source.dropped': { severity: 'major', widens: true },
  'taint_source.added': { severity: 'minor' },
  'effect_key.loosened': { severity: 'major', widens: true },
  'effect_key.tightened': { severity: 'minor' },
  'undo.dropped': { severity: 'minor' },
  'undo.changed': { severity: 'minor' },
  'undo.added': { severity: 'minor' },
  'edge.late_bound': { severity: 'major', widens: true },
  'edge.pinned': { severity: 'minor' },
  'tool.added': { severity: 'minor' },
  'tool.removed': { severity: 'minor' },
  'tool.route': { severity: 'minor' },
  'tool.version': { severity: 'patch' },
  'agent.added': { severity: 'minor' },
  'agent.removed': { severity: 'minor' },
  'agent.replaced': { severity: 'major', widens: true },
  'child.major': { severity: 'minor' },
  'child.version': { severity: 'patch' },
  'wire_name.changed': { severity: 'minor' },
  'result.changed': { severity: 'minor' },
  'secret.added': { severity: 'minor' },
  'secret.removed': { severity: 'minor' },
  'secret.changed': { severity: 'minor' },
  'mcp_server.added': { severity: 'minor' },
  'mcp_server.removed': { severity: 'minor' },
  'mcp_server.changed': { severity: 'minor' },
  'mcp_tool.changed': { severity: 'minor' },
  'mcp_tool.unpinned': { severity: 'minor' },
  'model.changed': { severity: 'minor' },
  'limit.raised': { severity: 'minor' },
  'limit.lowered': { severity: 'minor' },
  'limit.changed': { severity: 'minor' },
  'input.narrowed': { severity: 'major' },
  'input.widened': { severity: 'minor' },
  'output.widened': { severity: 'major' },
  'output.narrowed': { severity: 'minor' },
  'output.format': { severity: 'major' },
  'output.strict_dropped': { severity: 'major' },
  'output.strict_added': { severity: 'minor' },
  'output.on_invalid': { severity: 'minor' },
  'instructions.changed': { severity: 'patch' },
  'description.changed': { severity: 'patch' },
  'metadata.changed': { severity: 'patch' },
  'content.changed': { severity: 'patch' },
} satisfies Record<string, ChangeRow>

export type ChangeKind = keyof typeof CHANGES

export interface VersionChange {
  readonly kind: ChangeKind
  readonly severity: ChangeSeverity
  /** See `ChangeRow.widens`. */
  readonly widens: boolean
  /** `namespace.name` of the changed agent, or of a document that is published alone. */
  readonly agent: string
  /** `namespace.name` of the called tool or agent. */
  readonly tool?: string
  readonly verdict?: AuthorityVerdict
  readonly witness?: WitnessCall
  readonly from: JsonValue
  readonly to: JsonValue
  /** `policies/limit.yaml:11`, if known. */
  readonly path: string | null
  /** One line for people, without the agent's name. */
  readonly say: string
}

/** Which agent, or which of its calls, a change is about. */
export type ChangePlace = Pick<VersionChange, 'agent' | 'tool'>

export interface VersionDifference {
  /** True when a change is major or widens authority. */
  readonly breaking: boolean
  readonly widens: boolean
  /** The smallest bump; undefined if nothing changed. */
  readonly required?: ChangeSeverity
  readonly changes: readonly VersionChange[]
}

type ChangeText = Pick<VersionChange, 'agent' | 'say'> &
  Partial<Omit<VersionChange, 'kind' | 'severity' | 'agent' | 'say'>>

/** @param change `widens` if it does not follow from the kind */
export function versionChange(kind: ChangeKind, change: ChangeText): VersionChange {
  const row: ChangeRow = CHANGES[kind]
  const { agent, tool, verdict, witness, from = null, to = null, path = null, say } = change
  const { severity, widens = false } = { ...row, ...(change.widens !== undefined && { widens: change.widens }) }
  return {
    kind,
    severity,
    widens,
    agent,
    ...(tool !== undefined && { tool }),
    ...(verdict && { verdict }),
    ...(witness && { witness }),
    from,
    to,
    path,
    say,
  }
}

/** The change of one value; none where both are the same. */
export function valueChange(
  kind: ChangeKind,
  place: ChangePlace,
  from: JsonValue | undefined,
  to: JsonValue | undefined,
  say: string,
): readonly VersionChange[] {
  const [was, is] = [from ?? null, to ?? null]
  return canonicalJson(was) === canonicalJson(is) ? [] : [versionChange(kind, { ...place, from: was, to: is, say })]
}

const ORDER: readonly ChangeSeverity[] = ['major', 'minor', 'patch']

export function differenceOf(changes: readonly VersionChange[]): VersionDifference {
  const sorted = changes.toSorted((a, b) => weight(a) - weight(b))
  const required = ORDER.find((severity) => changes.some((each) => each.severity === severity))
  const widens = changes.some((each) => each.widens)
  return { breaking: required === 'major' || widens, widens, ...(required && { required }), changes: sorted }
}

/** Widening changes first, then by bump. */
const weight = ({ widens, severity }: VersionChange): number => (widens ? 0 : 1 + ORDER.indexOf(severity))

/** What became of a value, where null stands for none. */
export function kindOfChange(from: unknown, to: unknown): 'added' | 'removed' | 'changed' {
  if (from === null) return 'added'
  return to === null ? 'removed' : 'changed'
}
