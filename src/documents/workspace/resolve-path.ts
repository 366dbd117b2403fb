/** The paths that documents write: which file each leads to. Source: docs/design/bundles-and-authority.md#references */
import type { ProjectFiles } from '../text/files.ts'
import { checkPath, extensionOf, joinPath, pathsUnder } from '../text/paths.ts'
import { nearestCandidate } from '../text/suggest.ts'

/** The path in the workspace to which a reference leads, or why it leads nowhere. */
export type PathResolution =
  | { readonly path: string }
  | { readonly problem: 'bad-path'; readonly says: string }
  | { readonly problem: 'link'; readonly link: string }
  | { readonly problem: 'missing'; readonly near?: string }
  | { readonly problem: 'ambiguous'; readonly candidates: readonly string[] }

/** Extensions that may be left out, in the order in which they are tried. */
const EXTENSIONS = ['.yaml', '.yml', '.json', '.md', '.txt']

/** @param directories that the path may be relative to: the first in which the file is wins */
export function resolvePath(
  files: ProjectFiles,
  directories: readonly [string, ...string[]],
  written: string,
  version?: string | number,
): PathResolution {
  const checked = checkPath(written)
  if ('problem' in checked) return { problem: 'bad-path', says: checked.problem }
  for (const directory of directories) {
    const candidates = candidatesOf(joinPath(directory, checked.path), version)
    const link = files.links.find((each) =>
      candidates.some((candidate) => candidate === each || candidate.startsWith(`${each}/`)),
    )
    if (link !== undefined) return { problem: 'link', link }
    const found = candidates.filter((candidate) => files.has(candidate))
    if (found.length > 1) return { problem: 'ambiguous', candidates: found }
    if (found[0] !== undefined) return { path: found[0] }
  }
  const [first] = directories
  const known = pathsUnder(files.paths, first).map((path) => (first === '' ? path : path.slice(first.length + 1)))
  const near = nearestCandidate(checked.path, known)
  return { problem: 'missing', ...(near !== undefined && { near }) }
}

/** Paths that a reference may mean. If more than one exists, the reference is ambiguous. */
function candidatesOf(path: string, version: string | number | undefined): string[] {
  const extension = extensionOf(path)
  const known = EXTENSIONS.includes(extension)
  const stem = known ? path.slice(0, -extension.length) : path
  const extensions = known ? [extension] : EXTENSIONS
  const candidates = [path, ...(known ? [] : EXTENSIONS.map((each) => path + each))]
  if (version !== undefined)
    for (const each of extensions) candidates.push(`${stem}-${version}${each}`, `${stem}/${version}${each}`)
  return candidates
}
