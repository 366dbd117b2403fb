import { replaceScalarFix } from '../../text/diagnostic.ts'
import { isVersion, completeVersion } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const idInvalidSemver: LintRule = {
  severity: 'error',
  law: '`metadata.version` is a semver label.',
  fix: 'Write a semver version such as 1.2.0.',
  source: 'Authoring format, "Versioning", 2',
  check(document, report) {
    if (document.identity !== undefined && isVersion(document.identity.version)) return
    for (const version of document.texts('metadata.version')) {
      if (isVersion(version.value)) continue
      const meant = completeVersion(version.value)
      const fix =
        meant === undefined ? 'Write a version such as "1.0.0".' : replaceScalarFix(version, meant, `Write "${meant}".`)
      report(version, `"${version.value}" is not a semver version.`, { fix })
    }
  },
}
