/** Formats the changes between two versions. */
import type { Theme } from '../../terminal/theme.ts'
import type { VersionChange, VersionDifference } from '../../authority/change.ts'
import type { FileChange } from '../../compile/diff/files.ts'
import { safeText } from '../../base/text/escape-text.ts'

/** The JSON of a difference. Source: docs/design/bundles-and-authority.md#comparisons */
export const differenceBody = ({ breaking, widens, required, changes }: VersionDifference) => ({
  breaking,
  widens,
  required: required ?? null,
  changes,
})

/** `wider  acme.desk  acme.refunds: … policies/limit.yaml:11`, a line each; separated by TABs in a pipe. */
export const changeLines = (changes: readonly VersionChange[], isTTY: boolean): readonly string[] =>
  changes.map((each) => {
    const { severity, widens, kind, agent, say, path } = each
    const parts = isTTY
      ? [effectOf(each).padEnd(5), agent, say, ...(path === null ? [] : [`(${path})`])]
      : [kind, widens ? 'wider' : severity, agent, say, path ?? '']
    return parts.map(safeText).join(isTTY ? '  ' : '\t')
  })

/** How a change affects authority; if it does not, the version bump that it requires. */
function effectOf({ widens, verdict, severity }: VersionChange): string {
  if (widens) return 'wider'
  return verdict === 'tightened' ? 'tighter' : severity
}

/** A line of a change as it is seen: wider authority cannot be missed. */
export function paintChange(theme: Theme, line: string): string {
  if (line.startsWith('wider ')) return theme.wider('wider') + theme.strong(line.slice('wider'.length))
  return line.startsWith('tighter ') ? theme.tighter('tighter') + line.slice('tighter'.length) : line
}

/** `changed  prompts/desk.md  sha256:5a1c… → sha256:90fe…`; whole digests, separated by TABs, in a pipe. */
export function fileLine({ path, change, from, to }: FileChange, isTTY: boolean): string {
  const digest = (each: string | null): string => (each === null ? '—' : `${each.slice(0, 15)}…`)
  const parts = isTTY
    ? [change.padEnd(7), path, `${digest(from)} → ${digest(to)}`]
    : ['file', change, path, from ?? '', to ?? '']
  return parts.map(safeText).join(isTTY ? '  ' : '\t')
}

/** `2 changes, 1 widens authority`. */
export function countChanges({ changes }: Pick<VersionDifference, 'changes'>): string {
  const wider = changes.filter(({ widens }) => widens).length
  const all = `${changes.length} ${changes.length === 1 ? 'change' : 'changes'}`
  return wider === 0 ? all : `${all}, ${wider} ${wider === 1 ? 'widens' : 'widen'} authority`
}
