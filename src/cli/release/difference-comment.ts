/** A difference as the comment of a review, in the Markdown of GitHub and GitLab. Source: docs/design/bundles-and-authority.md#comparisons */
import type { VersionChange, VersionDifference } from '../../authority/change.ts'
import type { FileChange } from '../../compile/diff/files.ts'
import { COMMENT_MARK } from '../init/ci-files.ts'
import { escapeMarkdown, markdownRow, withinRows } from '../reports/markdown.ts'
import { countChanges } from './changes.ts'

/** Wider authority first, each change with the call that shows it. What documents say is shown, and means nothing to Markdown. */
export function differenceComment(difference: VersionDifference, files: readonly FileChange[] = []): string {
  const { changes } = difference
  const sorted = changes.toSorted((a, b) => Number(b.widens) - Number(a.widens))
  return [
    COMMENT_MARK,
    '### What the agents may do',
    '',
    changes.length === 0 ? 'No change.' : `${countChanges(difference)}.`,
    ...(sorted.length === 0 ? [] : ['', '| | agent | change | where |', '| --- | --- | --- | --- |']),
    ...withinRows(sorted.map(changeRow)),
    ...(files.length === 0 ? [] : ['', `<details><summary>Files: ${files.length}</summary>`, '']),
    ...withinRows(files.map(({ change, path }) => `- ${change} ${escapeMarkdown(path)}`)),
    ...(files.length === 0 ? [] : ['', '</details>']),
  ].join('\n')
}

function changeRow({ widens, verdict, severity, agent, say, path }: VersionChange): string {
  const effect = widens ? '**wider**' : verdict === 'tightened' && 'tighter'
  return markdownRow([effect || severity, ...[agent, say, path ?? ''].map(escapeMarkdown)])
}
