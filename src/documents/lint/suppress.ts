/** Comments that suppress findings. Source: docs/design/lint.md#suppressions */
import { createFinding, type Diagnostic, type TextEdit, type FindingPlace } from '../text/diagnostic.ts'
import type { SourceText } from '../text/source.ts'
import { didYouMean, nearestCandidate } from '../text/suggest.ts'
import { rules } from '../rules/index.ts'
import { isEssential } from './essential.ts'
import type { YamlNode } from '../text/node.ts'
import { readYaml } from '../text/yaml.ts'

export interface LintSuppression {
  /** The comment itself. */
  readonly at: FindingPlace
  readonly rule: string
  readonly reason: string
  /** The first and last line to which it applies; absent for the whole file. */
  readonly lines?: readonly [first: number, last: number]
  /** Edits that remove the comment; empty if it suppresses other rules too. */
  readonly removal: readonly TextEdit[]
  /** Why the comment is not a valid suppression. */
  readonly invalid?: string
}

const COMMENT = /(?:^|[ \t])#[ \t]*svc-lint-((?:disable|enable|ignore)[\w-]*):?[ \t]*([^\r\n]*)/gm
const FORM = 'Write `# svc-lint-disable-next-line RULE -- reason`, or `# svc-lint-disable-file RULE -- reason`.'
/** Suppressing rules of these groups requires a reason. */
const REASON_NEEDED = /^(?:security|authority)\//

/** The suppressions in the comments of a file. */
export function suppressionsIn(source: SourceText): LintSuppression[] {
  if (!source.text.includes('svc-lint-')) return []
  const texts = readYaml(source).roots.flatMap(textsIn)
  return [...source.text.matchAll(COMMENT)].flatMap((match): LintSuppression[] => {
    const [, word = '', rest = ''] = match
    const [names = '', reason = ''] = rest.split(/(?:^|\s+)--\s*/, 2)
    const start = match.index + match[0].indexOf('#')
    // A `#` inside a value, such as instructions or a description, is not a comment.
    if (isInside(texts, start)) return []
    const end = match.index + match[0].trimEnd().length
    const at = { path: source.path, pointer: '', range: source.span(start, end) }
    const lines = word === 'disable-file' ? undefined : linesBelow(source, texts, at.range.start.line + 1)
    const suppressed = names.split(/[\s,]+/).filter((rule) => rule !== '')
    const isKnown = word === 'disable-file' || word === 'disable-next-line'
    if (!isKnown || suppressed.length === 0) {
      const invalid = isKnown ? 'This comment names no rule.' : `\`svc-lint-${word}\` is not a suppression comment.`
      return [{ at, rule: '', reason: '', removal: [], invalid }]
    }
    return suppressed.map((rule) => ({
      at,
      rule,
      reason: reason.trim(),
      ...(lines !== undefined && { lines }),
      removal: suppressed.length > 1 ? [] : [removal(source, start, end)],
    }))
  })
}

const EVERY_LINE = [0, Infinity] as const

/** A line and, if it begins a block scalar (`text: |`), the lines of that scalar, which cannot contain comments. */
function linesBelow(source: SourceText, texts: readonly LineRange[], line: number): readonly [number, number] {
  const start = source.lineStart(line + 1) ?? source.text.length
  const text = textFrom(texts, start)
  // Only a block scalar begins at the start of a line with white space.
  const isBlock = text?.start === start && /\s/.test(source.text.charAt(start))
  return [line, isBlock ? source.span(text.end, text.end).start.line : line]
}

interface LineRange {
  readonly start: number
  readonly end: number
}

/** Ranges of values that may contain a `#`, in order. */
function textsIn(root: YamlNode): LineRange[] {
  const texts: LineRange[] = []
  const visit = (node: YamlNode): void => {
    if (node.alias) return
    if (typeof node.value === 'string' && !node.plain) texts.push(node)
    for (const member of node.members ?? []) {
      texts.push(member)
      visit(member.node)
    }
    for (const item of node.items ?? []) visit(item)
  }
  visit(root)
  return texts
}

const isInside = (texts: readonly LineRange[], offset: number): boolean =>
  (textFrom(texts, offset)?.start ?? Infinity) <= offset

/** The first range that ends after an offset. */
const textFrom = (texts: readonly LineRange[], offset: number): LineRange | undefined =>
  texts.find(({ end }) => end > offset)

/** The findings that no comment suppresses, and the faults of the comments. */
export function suppressFindings(
  suppressions: readonly LintSuppression[],
  findings: readonly Diagnostic[],
  ran: (rule: string) => boolean,
): Diagnostic[] {
  if (suppressions.length === 0) return [...findings]
  const byPath = new Map<string, LintSuppression[]>()
  for (const each of suppressions) byPath.set(each.at.path, [...(byPath.get(each.at.path) ?? []), each])
  const used = new Set<LintSuppression>()
  const kept = findings.filter((finding) => {
    const by = byPath
      .get(finding.path)
      ?.find(
        ({ rule, lines: [first, last] = EVERY_LINE }) =>
          rule === finding.rule && first <= finding.range.start.line && finding.range.start.line <= last,
      )
    if (by === undefined || isEssential(finding.rule)) return true
    used.add(by)
    return REASON_NEEDED.test(finding.rule) && by.reason === ''
  })
  return [...kept, ...suppressions.flatMap((each) => fault(each, used.has(each) || !ran(each.rule)))]
}

function fault({ at, rule, reason, removal, invalid }: LintSuppression, used: boolean): Diagnostic[] {
  if (invalid !== undefined) return [createFinding('lint/unknown-rule', 'error', at, invalid, { fix: FORM })]
  if (!rules.some(({ name }) => name === rule)) {
    const names = rules.map(({ name }) => name)
    return [
      createFinding(
        'lint/unknown-rule',
        'error',
        at,
        `There is no rule "${rule}".${didYouMean(nearestCandidate(rule, names))}`,
      ),
    ]
  }
  if (REASON_NEEDED.test(rule) && reason === '')
    return [
      createFinding('lint/suppression-without-reason', 'error', at, `Suppressing ${rule} needs a reason.`, {
        fix: `Append the reason: \`${rule} -- reason\`.`,
      }),
    ]
  if (used && !isEssential(rule)) return []
  const message = isEssential(rule)
    ? `${rule} cannot be suppressed: a document that breaks it is not compiled.`
    : `Nothing here breaks ${rule}.`
  const fix = { description: 'Remove the comment.', edits: removal }
  return [createFinding('lint/unused-suppression', 'warning', at, message, { fix })]
}

/** Removes the comment, and its line if nothing else is on it. */
function removal(source: SourceText, start: number, end: number): TextEdit {
  const line = source.text.lastIndexOf('\n', start - 1) + 1
  const alone = source.text.slice(line, start).trim() === ''
  const next = source.text.indexOf('\n', end)
  const from = alone ? line : source.text.slice(0, start).trimEnd().length
  const to = alone && next >= 0 ? next + 1 : end
  return { path: source.path, range: source.span(from, to), text: '' }
}
