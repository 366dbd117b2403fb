/** `--filter` of the test commands. Source: docs/design/command-line.md#tests */
import { safeText } from '../../base/text/escape-text.ts'
import { usageFailure } from '../../base/usage-failure.ts'

export interface TestFilter {
  chooses(file: string, name: string): boolean
  /** @throws Failure `usage` where no test matched: a misspelt filter must not pass */
  requireMatch(): void
}

/** Names listed in the remedy; the rest is counted. */
const SHOWN = 10

/** @param text part of the file or the name, whatever the case; undefined chooses all */
export function createTestFilter(text: string | undefined): TestFilter {
  const others: string[] = []
  let found = false
  return {
    chooses(file, name) {
      if (text === undefined || `${file} ${name}`.toLowerCase().includes(text.toLowerCase())) return (found = true)
      others.push(name)
      return false
    },
    requireMatch() {
      if (found || others.length === 0) return
      const more = others.length > SHOWN ? [`${others.length - SHOWN} more`] : []
      throw usageFailure(
        `No test has "${text}" in its file or name.`,
        `There are: ${[...others.slice(0, SHOWN).map(safeText), ...more].join('; ')}.`,
      )
    },
  }
}
