/** An evaluation as a part of the comment of a review, in the Markdown of GitHub and GitLab. Source: docs/design/evals.md#in-a-review */
import { escapeMarkdown, markdownRow, withinRows } from '../reports/markdown.ts'
import { basisLines, describeOutcome, interruptedLine, notPassedLines, sideColumns, type EvalReport } from './report.ts'
import type { EvaluatedCase } from './evaluate.ts'

/** The versions, the cases whose outcome changed, and what policies decide otherwise. */
export function evalComment(report: EvalReport): string {
  const { dataset, broken, summary, repeat } = report
  const columns = sideColumns(repeat)
  const { now, before, changed } = summary
  return [
    `### Evals: ${escapeMarkdown(dataset)}`,
    '',
    markdownRow(columns.map(({ title }) => title.toLowerCase())),
    markdownRow(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...(before ? [before, now] : [now]).map((side) =>
      markdownRow(columns.map(({ cell }) => escapeMarkdown(cell(side)))),
    ),
    ...(changed.length === 0 ? [] : ['', markdownRow(['case', 'before', 'now', 'what did not pass'])]),
    ...(changed.length === 0 ? [] : [markdownRow(Array.from({ length: 4 }, () => '---'))]),
    ...withinRows(changed.map(changedRow)),
    '',
    ...withinRows(basisLines(report).map((line) => `- ${escapeMarkdown(line.trim())}`)),
    ...[interruptedLine(report) ?? []].flat().map((line) => `- ${line}`),
    ...(broken.length === 0
      ? []
      : [`- ${broken.length} broken ${broken.length === 1 ? 'line was' : 'lines were'} left out`]),
  ].join('\n')
}

const changedRow = ({ case: { name }, before, now }: EvaluatedCase): string =>
  markdownRow(
    [name, before ? describeOutcome(before) : '', describeOutcome(now), notPassedLines(now)[0] ?? ''].map(
      escapeMarkdown,
    ),
  )
