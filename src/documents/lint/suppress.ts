/** Comments that silence a finding. Source: lint rules, "Suppress". */
import { createFinding, type Diagnostic, type TextEdit, type FindingPlace } from '../text/diagnostic.ts'
import type { SourceText } from '../text/source.ts'
import { didYouMean } from '../text/suggest.ts'
import { rules } from '../rules/index.ts'
import type { YamlNode } from '../text/node.ts'
import { readYaml } from '../text/yaml.ts'

export interface LintSuppression {
  /** The comment, without what stands before it. */
  readonly at: FindingPlace
  readonly rule: string
  readonly reason: string
  /** The first and the last line it speaks of; absent for the whole file. */
  readonly lines?: readonly [first: number, last: number]
  /** What takes the comment away; none where it silences another rule too. */
  readonly removal: readonly TextEdit[]
  /** Why the comment silences nothing, where it is not written as one that does. */
  readonly unread?: string
}

const COMMENT = /(?:^|[ \t])#[ \t]*svc-lint-((?:disable|enable|ignore)[\w-]*):?[ \t]*([^\r\n]*)/gm
const FORM = 'Write `# svc-lint-disable-next-line RULE -- reason`, or `# svc-lint-disable-file RULE -- reason`.'
/** Rules of these families are silenced with a reason only. */
const REASON_NEEDED = /^(?:security|authority)\//

/** What the comments of a file silence. */
export function suppressionsIn(source: SourceText): LintSuppression[] {
  if (!source.text.includes('svc-lint-')) return []
  const texts = readYaml(source).roots.flatMap(textsIn)
  return [...source.text.matchAll(COMMENT)].flatMap((match): LintSuppression[] => {
    const [, word, said] = match as unknown as [string, string, string]
    const [names = '', reason = ''] = said.split(/(?:^|\s+)--\s*/, 2)
    const start = match.index + match[0].indexOf('#')
    // What a text says to a model, or another's description, silences nothing.
    if (isInside(texts, start)) return []
    const end = match.index + match[0].trimEnd().length
    const at = { path: source.path, pointer: '', range: source.span(start, end) }
    const lines = word === 'disable-file' ? undefined : linesBelow(source, texts, at.range.start.line + 1)
    const silenced = names.split(/[\s,]+/).filter((rule) => rule !== '')
    const isKnown = word === 'disable-file' || word === 'disable-next-line'
    if (!isKnown || silenced.length === 0) {
      const unread = isKnown ? 'This comment names no rule.' : `No comment \`svc-lint-${word}\` is read.`
      return [{ at, rule: '', reason: '', removal: [], unread }]
    }
    return silenced.map((rule) => ({
      at,
      rule,
      reason: reason.trim(),
      ...(lines !== undefined && { lines }),
      removal: silenced.length > 1 ? [] : [removal(source, start, end)],
    }))
  })
}

const EVERY_LINE = [0, Infinity] as const

/** A line, and those of the text that it begins (`text: |`): no comment can stand in these. */
function linesBelow(source: SourceText, texts: readonly LineRange[], line: number): readonly [number, number] {
  const start = source.lineStart(line + 1) ?? source.text.length
  const text = textFrom(texts, start)
  // What begins with the line and with space is a block: words and quotes begin with a letter.
  const isBlock = text?.start === start && /\s/.test(source.text[start]!)
  return [line, isBlock ? source.span(text.end, text.end).start.line : line]
}

interface LineRange {
  readonly start: number
  readonly end: number
}

/** Where texts stand that may hold a `#`, in order. */
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

/** The first that ends behind an offset. */
function textFrom(texts: readonly LineRange[], offset: number): LineRange | undefined {
  let [low, high] = [0, texts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (texts[middle]!.end <= offset) low = middle + 1
    else high = middle
  }
  return texts[low]
}

/** The findings that no comment silences, and what is wrong with the comments. */
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
    if (by === undefined) return true
    used.add(by)
    return REASON_NEEDED.test(finding.rule) && by.reason === ''
  })
  return [...kept, ...suppressions.flatMap((each) => fault(each, used.has(each) || !ran(each.rule)))]
}

function fault({ at, rule, reason, removal, unread }: LintSuppression, used: boolean): Diagnostic[] {
  if (unread !== undefined) return [createFinding('lint/unknown-rule', 'error', at, unread, { fix: FORM })]
  if (!rules.some(({ name }) => name === rule)) {
    const names = rules.map(({ name }) => name)
    return [createFinding('lint/unknown-rule', 'error', at, `There is no rule "${rule}".${didYouMean(rule, names)}`)]
  }
  if (REASON_NEEDED.test(rule) && reason === '')
    return [
      createFinding('lint/suppression-without-reason', 'error', at, `${rule} is silenced with a reason only.`, {
        fix: `Append the reason: \`${rule} -- reason\`.`,
      }),
    ]
  if (used) return []
  return [
    createFinding('lint/unused-suppression', 'warning', at, `Nothing here breaks ${rule}.`, {
      fix: { description: 'Remove the comment.', edits: removal },
    }),
  ]
}

/** The comment, with its line where nothing else stands there. */
function removal(source: SourceText, start: number, end: number): TextEdit {
  const line = source.text.lastIndexOf('\n', start - 1) + 1
  const alone = source.text.slice(line, start).trim() === ''
  const next = source.text.indexOf('\n', end)
  const from = alone ? line : source.text.slice(0, start).trimEnd().length
  const to = alone && next >= 0 ? next + 1 : end
  return { path: source.path, range: source.span(from, to), text: '' }
}
