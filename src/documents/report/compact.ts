import { safeText } from '../../base/escape-text.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import { severityWord } from './text.ts'

/** One line for each finding. */
export const reportCompact = (findings: readonly Diagnostic[]): string =>
  findings
    .map(
      ({ path, range, severity, rule, message }) =>
        `${safeText(path)}:${range.start.line}:${range.start.column}  ${severityWord(severity).padEnd(5)}  ${rule}  ${safeText(message)}\n`,
    )
    .join('')
