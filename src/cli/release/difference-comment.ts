/** A difference as the comment of a review, in the Markdown of GitHub and GitLab. Source: docs/design/bundles-and-authority.md#comparisons */
import type { VersionChange, VersionDifference } from '../../authority/change.ts'
import { safeText } from '../../base/escape-text.ts'
import type { FileChange } from '../../compile/diff/files.ts'
import { COMMENT_MARK } from '../pages/ci-files.ts'
import { countChanges } from './changes.ts'

/** Rows of each list. The rest is counted: a comment has at most 65,536 characters. */
const MOST_ROWS = 50

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
    ...sorted.slice(0, MOST_ROWS).map(changeRow),
    ...leftOut(sorted.length),
    ...(files.length === 0 ? [] : ['', `<details><summary>Files: ${files.length}</summary>`, '']),
    ...files.slice(0, MOST_ROWS).map(({ change, path }) => `- ${change} ${toMarkdown(path)}`),
    ...leftOut(files.length),
    ...(files.length === 0 ? [] : ['', '</details>']),
  ].join('\n')
}

const leftOut = (count: number): readonly string[] => (count > MOST_ROWS ? ['', `… and ${count - MOST_ROWS} more`] : [])

function changeRow({ widens, verdict, severity, agent, say, path }: VersionChange): string {
  const effect = widens ? '**wider**' : verdict === 'tightened' && 'tighter'
  return `| ${[effect || severity, ...[agent, say, path ?? ''].map(toMarkdown)].join(' | ')} |`
}

/** As entities: nothing becomes a mention, a link, a reference, a cell or HTML. */
const toMarkdown = (text: string): string =>
  safeText(text).replace(/[&<>"'`*_~[\]()!#@|\\:]/g, (mark) => `&#${mark.charCodeAt(0)};`)
