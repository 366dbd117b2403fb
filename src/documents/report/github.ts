import { safeBlock } from '../../base/escape-text.ts'
import type { Diagnostic } from '../text/diagnostic.ts'

const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const

/** Annotations of GitHub's workflow commands. */
export const reportGithub = (findings: readonly Diagnostic[]): string =>
  findings
    .map(({ severity, path, range: { start, end }, rule, message, fix }) => {
      // GitHub marks columns within one line only.
      const columns =
        start.line === end.line ? `,col=${start.column},endColumn=${Math.max(start.column, end.column)}` : ''
      const at = `file=${property(path)},line=${start.line},endLine=${end.line}${columns},title=${property(rule)}`
      // The message goes into the log of the job, which shows colours.
      const text = safeBlock(fix === undefined ? message : `${message} ${fix.description}`)
      return `::${COMMANDS[severity]} ${at}::${data(text)}\n`
    })
    .join('')

const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
