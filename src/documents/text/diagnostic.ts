/** A finding: something about a document that its author should know. It is a value; it is never thrown. */
import { compareText } from '../../base/values/compare-text.ts'
import { cutText } from '../../base/text/cut-text.ts'
import type { TextSpan } from './source.ts'

export const SEVERITIES = ['error', 'warning', 'info'] as const
export type LintSeverity = (typeof SEVERITIES)[number]

/** Replaces the span in the file by the text; an empty span inserts. */
export interface TextEdit {
  readonly path: string
  readonly range: TextSpan
  readonly text: string
}

export interface FindingFix {
  /** What to do, in the imperative: "Write 100 without quotes." */
  readonly description: string
  /** Empty where only a person can make the change. */
  readonly edits: readonly TextEdit[]
  /** Set where a person must confirm the edits: editors offer them, `--fix` skips them. */
  readonly unsafe?: true
}

/** Where the other half of the fault stands. */
export interface RelatedPlace {
  readonly path: string
  readonly range: TextSpan
  readonly message: string
}

/** The content of a message as data, for code that relates findings; reports do not show it. */
export interface FindingFacts {
  /** Keys that the mapping at the place lacks; for a key in the wrong place the dotted paths where it belongs. */
  readonly missing?: readonly string[]
  /** The name or key that was probably meant. */
  readonly meant?: string | undefined
  /** Names that the finding is about. */
  readonly subject?: readonly string[]
  /** True where the value as a whole is wrong, so that findings inside it are pointless. */
  readonly wrongValue?: true
}

/** Source: docs/design/lint.md#messages */
export interface Diagnostic {
  readonly rule: string
  readonly severity: LintSeverity
  /** One sentence: what is wrong, with the author's own names. */
  readonly message: string
  /** What happens if it is not fixed. */
  readonly why?: string
  readonly fix?: FindingFix
  readonly path: string
  /** JSON pointer into the document; empty for the whole file. */
  readonly pointer: string
  readonly range: TextSpan
  readonly related: readonly RelatedPlace[]
  /** The command that explains the rule. */
  readonly docs: string
  readonly facts?: FindingFacts
}

/** The fix that replaces a scalar, in quotes where the language of the file needs them. */
export function replaceScalarFix(
  at: { readonly path: string; readonly range: TextSpan; readonly pointer?: string },
  value: string | number | boolean,
  description = `Write ${value}.`,
): FindingFix {
  // Inside the text of `when`, the right quotes depend on the text around: a person writes them.
  if (typeof value === 'string' && at.pointer !== undefined && /\/when@\d+:/.test(at.pointer))
    return { description, edits: [] }
  const plain =
    typeof value !== 'string' ||
    (!at.path.endsWith('.json') &&
      /^[A-Za-z_][\w./-]*(?::[\w./-]+)?$/.test(value) &&
      !/^(?:true|false|null)$/i.test(value))
  return {
    description,
    edits: [{ path: at.path, range: at.range, text: plain ? String(value) : JSON.stringify(value) }],
  }
}

/** The fix that replaces a scalar by what was probably meant, which a person confirms. */
export const proposeScalarFix = (...[at, value, description]: Parameters<typeof replaceScalarFix>): FindingFix => ({
  ...replaceScalarFix(at, value, description),
  unsafe: true,
})

/** The optional parts of a finding. */
export interface FindingText extends FindingFacts {
  readonly why?: string
  readonly fix?: string | FindingFix
  readonly related?: readonly RelatedPlace[]
}

export interface FindingPlace {
  readonly path: string
  readonly pointer: string
  readonly range: TextSpan
}

/** Creates a finding; every finding is created here. */
export function createFinding(
  rule: string,
  severity: LintSeverity,
  place: FindingPlace,
  message: string,
  details: FindingText = {},
): Diagnostic {
  const { path, pointer, range } = place
  const { why, fix, related = [], ...facts } = details
  return {
    rule,
    severity,
    message: shortened(message),
    ...(why !== undefined && { why }),
    ...(fix !== undefined && { fix: typeof fix === 'string' ? { description: fix, edits: [] } : fix }),
    path,
    pointer,
    range,
    related,
    docs: `svc explain ${rule}`,
    ...(Object.values(facts).some((each) => each !== undefined) && { facts }),
  }
}

/** Longest message in characters: names that authors choose have no limit. */
const MAX_MESSAGE_LENGTH = 800

const shortened = (message: string): string =>
  message.length <= MAX_MESSAGE_LENGTH
    ? message
    : `${cutText(message, MAX_MESSAGE_LENGTH / 2).text} … ${cutText(message, MAX_MESSAGE_LENGTH / 2, 'end').text}`

/** By file, then position, then severity and rule: the order in which every report lists findings. */
export function sortDiagnostics(findings: readonly Diagnostic[]): Diagnostic[] {
  return [...findings].sort(
    (a, b) =>
      compareText(a.path, b.path) ||
      a.range.start.offset - b.range.start.offset ||
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      compareText(a.rule, b.rule) ||
      compareText(a.message, b.message),
  )
}
