/** The forms in which findings are printed, by the name that `--format` takes. */
import type { Diagnostic } from '../text/diagnostic.ts'
import { reportCompact } from './compact.ts'
import { reportGithub } from './github.ts'
import { reportGitlab } from './gitlab.ts'
import { reportJson } from './json.ts'
import { reportJunit } from './junit.ts'
import { reportSarif } from './sarif.ts'
import type { ReportInput } from './summary.ts'
import { reportText } from './text.ts'

export const reportFormats = {
  text: reportText,
  json: reportJson,
  sarif: reportSarif,
  github: reportGithub,
  gitlab: reportGitlab,
  junit: reportJunit,
  compact: reportCompact,
} satisfies Record<string, (findings: readonly Diagnostic[], input: ReportInput) => string>

export type ReportFormat = keyof typeof reportFormats
