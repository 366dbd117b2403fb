import { pathsIn } from '../../facts/path-refs.ts'
import { directoryOf, isUnder } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'

export const bundleSymlink: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A bundle contains no symbolic links, and no path of it leads through one.',
  fix: 'Copy the file, or publish it.',
  reason: 'A link can lead out of the bundle.',
  crossFile: true,
  check(document, report, { workspace }) {
    if (workspace.files.links.length === 0) return
    const fix = 'Copy its target.'
    const reported = new Set<string>()
    for (const path of pathsIn(document)) {
      const found = workspace.resolve(document, path.value)
      if (!('problem' in found) || found.problem !== 'link') continue
      reported.add(found.link)
      report(path, `"${found.link}" is a symbolic link.`, { fix })
    }
    if (document.kind !== 'Bundle') return
    for (const link of workspace.files.links)
      if (isUnder(directoryOf(document.path), link) && !reported.has(link))
        report('/kind', `"${link}" in this bundle is a symbolic link.`, { fix: `${fix} Or list it in .svcignore.` })
  },
}
