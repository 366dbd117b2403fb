/** Findings, fixes and completions in the form of the protocol. */
import type {
  CodeAction,
  CompletionItem,
  CompletionItemKind,
  Diagnostic as LspDiagnostic,
  DiagnosticSeverity,
  Range,
  TextEdit,
} from 'vscode-languageserver/node'
import type { Diagnostic, FindingFix } from '../documents/text/diagnostic.ts'
import type { OfferedCompletion } from '../documents/lsp/complete.ts'
import { toRange } from './text.ts'

/** @param canCreate true where the editor can create files; otherwise fixes that need a new file are not offered */
export function quickFix(
  finding: Diagnostic,
  fix: FindingFix,
  uriOf: (path: string) => string,
  isThere: (path: string) => boolean,
  canCreate: boolean,
): CodeAction[] {
  if (fix.edits.length === 0) return []
  const changes = toChanges(fix.edits, uriOf)
  const missing = [...new Set(fix.edits.map(({ path }) => path).filter((path) => !isThere(path)))].map(uriOf)
  if (missing.length > 0 && !canCreate) return []
  return [
    {
      title: fix.description.replace(/\.$/, ''),
      kind: 'quickfix',
      diagnostics: [toDiagnostic(finding, uriOf)],
      isPreferred: fix.unsafe !== true,
      edit:
        missing.length === 0
          ? { changes }
          : {
              documentChanges: [
                ...missing.map((uri) => ({ kind: 'create' as const, uri })),
                ...Object.entries(changes).map(([uri, edits]) => ({ textDocument: { uri, version: null }, edits })),
              ],
            },
    },
  ]
}

export function toChanges(edits: FindingFix['edits'], uriOf: (path: string) => string): Record<string, TextEdit[]> {
  const changes: Record<string, TextEdit[]> = {}
  for (const { path, range, text } of edits)
    (changes[uriOf(path)] ??= []).push({ range: toRange(range), newText: text })
  return changes
}

const SEVERITY = { error: 1, warning: 2, info: 3 } as const satisfies Record<Diagnostic['severity'], DiagnosticSeverity>

export function toDiagnostic(finding: Diagnostic, uriOf: (path: string) => string): LspDiagnostic {
  const { rule, severity, message, why, fix, range, related } = finding
  const lines = [message, ...(why === undefined ? [] : [why]), ...(fix === undefined ? [] : [fix.description])]
  return {
    range: toRange(range),
    severity: SEVERITY[severity],
    code: rule,
    source: 'svc',
    message: lines.join('\n'),
    relatedInformation: related.map((each) => ({
      location: { uri: uriOf(each.path), range: toRange(each.range) },
      message: each.message,
    })),
  }
}

/** Property, Value, Reference, File, Constant. */
const ITEM_KIND = { key: 10, value: 12, document: 18, file: 17, secret: 21 } as const satisfies Record<
  OfferedCompletion['kind'],
  CompletionItemKind
>

export const toItem = (
  each: OfferedCompletion,
  range: Range,
  space: string,
  quote: string,
  at: number,
): CompletionItem => ({
  label: each.label,
  // Editors filter by the text at the cursor, which begins with the quote.
  ...(quote !== '' && { filterText: quote + each.label }),
  kind: ITEM_KIND[each.kind],
  // Keeps the order of the schema; editors sort by label otherwise.
  sortText: String(at).padStart(4, '0'),
  textEdit: { range, newText: space + (each.insert ?? each.label) },
  ...(each.detail !== undefined && { detail: each.detail }),
  ...(each.documentation !== undefined && { documentation: { kind: 'markdown', value: each.documentation } }),
})
