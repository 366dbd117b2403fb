/** The forms in which findings are printed, by the name that `--format` takes. */
import type { Diagnostic } from '../diagnostic.ts'
import { reportCompact } from './compact.ts'
import { reportGithub } from './github.ts'
import { reportGitlab } from './gitlab.ts'
import { reportJson } from './json.ts'
import { reportJunit } from './junit.ts'
import { reportSarif } from './sarif.ts'
import type { ReportInput } from './summary.ts'
import { reportText } from './text.ts'

export const formats = {
  text: reportText,
  json: reportJson,
  sarif: reportSarif,
  github: reportGithub,
  gitlab: reportGitlab,
  junit: reportJunit,
  compact: reportCompact,
} satisfies Record<string, (findings: readonly Diagnostic[], input: ReportInput) => string>

export type Format = keyof typeof formats
