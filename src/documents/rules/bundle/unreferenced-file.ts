import type { Document } from '../../text/document.ts'
import { pathsIn } from '../../facts/path-refs.ts'
import { directoryOf, pathsUnder } from '../../text/paths.ts'
import type { LintRule } from '../../facts/rule.ts'
import { valueAt } from '../../../base/json/resolve-pointer.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export const bundleUnreferencedFile: LintRule = {
  severity: 'info',
  law: 'Each prompt, schema and text file of a bundle is referenced by one of its documents.',
  fix: 'Reference the file, remove it, or list it in `.svcignore`.',
  reason: 'A bundle contains what its root reaches; other files are not published.',
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    const directory = workspace.bundleDirectory(document)
    const inside = pathsUnder(workspace.files.paths, directory).filter((path) => TO_BE_NAMED.test(path))
    if (inside.length === 0) return
    const used = new Set(workspace.publishedTogether(document).flatMap((each) => pathsOf(workspace, each)))
    const beside = new Set([directory, ...[...used].filter((path) => TEXT.test(path)).map(directoryOf)])
    const stray = inside.filter(
      (path) =>
        (OURS.test(path) || (TEXT.test(path) && beside.has(directoryOf(path)))) &&
        !FOR_PEOPLE.test(path) &&
        !used.has(path) &&
        workspace.documentsAt(path).length === 0 &&
        // Files of a nested bundle belong to that bundle.
        workspace.bundleOf({ path }) === directory,
    )
    if (stray.length === 0) return
    // Schema files reference each other, and the project file references the documents it serves.
    const mentions = workspace.files.paths
      .filter((path) => /(?:^|\/)(?:schemas\/[^/]+\.json|svc\.config\.ya?ml)$/.test(path))
      .map((path) => workspace.text(path))
    for (const path of stray) {
      const name = path.slice(path.lastIndexOf('/') + 1)
      if (mentions.some((text) => text.includes(name))) continue
      report('/spec/root', `Nothing in this bundle names ${path}.`, { subject: [path] })
    }
  },
}

/** Matches the paths of both kinds below; a quick test, since most files are neither. */
const TO_BE_NAMED = /(?:prompts|instructions|schemas)\/|\.(?:md|txt)$/
/** Directories whose files exist to be referenced. */
const OURS = /(?:^|\/)(?:prompts|instructions|schemas)\/[^/.][^/]*$/
/** Text files beside a Bundle or beside a referenced file are probably meant for an agent. */
const TEXT = /(?:^|\/)[^/.][^/]*\.(?:md|txt)$/
/** Files that many projects have, and package lists. */
const FOR_PEOPLE =
  /(?:^|\/)(?:[A-Z][A-Z0-9_-]+|(?:readme|licen[cs]e|changelog|contributing|notice|authors|history|security)[^/]*|requirements[^/]*|robots|llms)(?:\.[a-z]+)?$/

/** The files that the paths of a document resolve to; all candidates of an ambiguous path. */
function pathsOf(workspace: Workspace, document: Document): readonly string[] {
  return pathsIn(document).flatMap(({ value, pointer }) => {
    const version = valueAt(document.value, `${pointer.slice(0, pointer.lastIndexOf('/'))}/version`)
    const versioned = typeof version === 'string' || typeof version === 'number' ? version : undefined
    const found = workspace.resolve(document, value, versioned)
    if ('path' in found) return [found.path]
    return 'candidates' in found ? found.candidates : []
  })
}
