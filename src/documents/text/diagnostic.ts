/** A finding: something about a document that its author should know. It is a value; it is never thrown. */
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
  /** What to do, as an order: "write 100 without quotes". */
  readonly description: string
  /** What would be written; empty = only the description helps. */
  readonly edits: readonly TextEdit[]
  /** Set where a person must judge the edits: an editor offers them, `--fix` leaves them out. */
  readonly unsafe?: true
}

/** Where the other half of the fault stands. */
export interface RelatedPlace {
  readonly path: string
  readonly range: TextSpan
  readonly message: string
}

/** What a message says in words, as data: nothing reads it out of the words again. Reports do not show it. */
export interface FindingFacts {
  /** Keys that the mapping at the place lacks; for a key in the wrong place the dotted paths where it belongs. */
  readonly missing?: readonly string[]
  /** The name or key that was surely meant by what is written. */
  readonly meant?: string | undefined
  /** Names that the finding speaks of. */
  readonly subject?: readonly string[]
  /** True where the value itself is wrong, whatever is in it. */
  readonly wrongValue?: true
}

/** Source: command line, `svc lint` (the JSON shape); lint rules, "Message shape". */
export interface Diagnostic {
  readonly rule: string
  readonly severity: LintSeverity
  /** One sentence: what is wrong, with the author's own names. */
  readonly message: string
  /** What would happen if it stayed. */
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

/** The fix that writes another scalar in place of what stands there: in quotes where the file's language asks for them. */
export function replaceScalarFix(
  at: { readonly path: string; readonly range: TextSpan; readonly pointer?: string },
  value: string | number | boolean,
  description = `Write ${value}.`,
): FindingFix {
  // Within a text, quotes are those of the text: a person writes them.
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

/** What a finding says beside its place. */
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

/** The one maker of findings: fills what follows from the rule's name and leaves out what was not said. */
export function createFinding(
  rule: string,
  severity: LintSeverity,
  place: FindingPlace,
  message: string,
  saying: FindingText = {},
): Diagnostic {
  const { path, pointer, range } = place
  const { why, fix, related = [], ...facts } = saying
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

/** Characters of a message; names that authors choose may be longer than any sentence. */
const LONGEST = 800

const shortened = (message: string): string =>
  message.length <= LONGEST ? message : `${message.slice(0, LONGEST / 2)} … ${message.slice(-LONGEST / 2)}`

/** By file, then position, then severity and rule: the order in which every report lists findings. */
export function sortDiagnostics(findings: readonly Diagnostic[]): Diagnostic[] {
  return [...findings].sort(
    (a, b) =>
      compare(a.path, b.path) ||
      a.range.start.offset - b.range.start.offset ||
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      compare(a.rule, b.rule) ||
      compare(a.message, b.message),
  )
}

/** By code unit: the same on every machine, whatever its locale. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
