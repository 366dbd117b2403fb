/** Comments that silence a finding. Source: lint rules, "Suppress". */
import { diagnostic, type Diagnostic, type Edit } from './diagnostic.ts'
import type { Source } from './source.ts'
import { didYouMean } from './suggest.ts'
import { rules } from './rules/index.ts'
import type { Workspace } from './workspace.ts'

interface Suppression {
  readonly source: Source
  readonly rule: string
  readonly reason: string
  /** The line it speaks of; undefined for the whole file. */
  readonly line?: number
  readonly start: number
  readonly end: number
}

const COMMENT = /(?:^|[ \t])#[ \t]*svc-lint-disable-(next-line|file)[ \t]+([^\r\n]*)/gm
/** Rules of these families are silenced with a reason only. */
const REASON_NEEDED = /^(?:security|authority)\//

/** The findings that no comment silences, and what is wrong with the comments. */
export function suppress(
  workspace: Workspace,
  findings: readonly Diagnostic[],
  ran: (rule: string) => boolean,
): Diagnostic[] {
  const sources = new Map(workspace.documents.map(({ source }) => [source.path, source]))
  const suppressions = [...sources.values()].flatMap(suppressionsIn)
  if (suppressions.length === 0) return [...findings]
  const used = new Set<Suppression>()
  const kept = findings.filter((finding) => {
    const by = suppressions.find(
      ({ source, rule, line }) =>
        source.path === finding.path &&
        rule === finding.rule &&
        (line === undefined || line === finding.range.start.line),
    )
    if (by === undefined) return true
    used.add(by)
    return REASON_NEEDED.test(finding.rule) && by.reason === ''
  })
  return [...kept, ...suppressions.flatMap((each) => fault(each, used.has(each) || !ran(each.rule), suppressions))]
}

function suppressionsIn(source: Source): readonly Suppression[] {
  if (!source.text.includes('svc-lint-disable-')) return NONE
  return [...source.text.matchAll(COMMENT)].flatMap((match) => {
    const [names = '', reason = ''] = match[2]!.split(/\s+--\s*/, 2)
    const start = match.index + match[0].indexOf('#')
    const end = match.index + match[0].trimEnd().length
    const line = match[1] === 'file' ? undefined : source.span(start, start).start.line + 1
    return names
      .split(/[\s,]+/)
      .filter((rule) => rule !== '')
      .map((rule) => ({ source, rule, reason: reason.trim(), ...(line !== undefined && { line }), start, end }))
  })
}

const NONE: readonly Suppression[] = []

function fault(each: Suppression, used: boolean, all: readonly Suppression[]): Diagnostic[] {
  const { source, rule, reason, start, end } = each
  const place = { path: source.path, pointer: '', range: source.span(start, end) }
  if (!rules.some(({ name }) => name === rule)) {
    const names = rules.map(({ name }) => name)
    return [diagnostic('lint/unknown-rule', 'error', place, `There is no rule "${rule}".${didYouMean(rule, names)}`)]
  }
  if (REASON_NEEDED.test(rule) && reason === '')
    return [
      diagnostic('lint/suppression-without-reason', 'error', place, `${rule} is silenced with a reason only.`, {
        fix: `Append the reason: \`${rule} -- reason\`.`,
      }),
    ]
  if (used) return []
  return [
    diagnostic('lint/unused-suppression', 'warning', place, `Nothing here breaks ${rule}.`, {
      fix: { description: 'Remove the comment.', edits: removal(each, all) },
    }),
  ]
}

/** The comment, with its line where nothing else stands there. None where it silences another rule too. */
function removal({ source, start, end }: Suppression, all: readonly Suppression[]): Edit[] {
  if (all.filter((each) => each.source === source && each.start === start).length > 1) return []
  const line = source.text.lastIndexOf('\n', start - 1) + 1
  const alone = source.text.slice(line, start).trim() === ''
  const next = source.text.indexOf('\n', end)
  const from = alone ? line : source.text.slice(0, start).trimEnd().length
  const to = alone && next >= 0 ? next + 1 : end
  return [{ path: source.path, range: source.span(from, to), text: '' }]
}
