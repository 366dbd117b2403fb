import type { LintRule } from '../../facts/rule.ts'

export const toolHandlerMissing: LintRule<'missingHandlers'> = {
  severity: 'warning',
  law: 'The file that the project file names as the program of a tool exists.',
  fix: 'Write the file, or correct `tools.ID.command` in `svc.config.yaml`.',
  reason: 'Nothing else reads the file before the first call, which fails.',
  crossFile: true,
  kinds: ['Tool'],
  needs: ['missingHandlers'],
  check(document, report, { missingHandlers }) {
    const missing = document.identity && missingHandlers.get(document.identity.id)
    if (missing) report('/metadata/name', `Its program ${missing.file} does not exist; ${missing.place} names it.`)
  },
}
