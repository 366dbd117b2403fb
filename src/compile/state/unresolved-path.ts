/** Why a path in a document cannot be resolved, as one sentence. */
import type { PathResolution } from '../../documents/workspace/resolve-path.ts'
import { didYouMean } from '../../documents/text/suggest.ts'

export function explainUnresolvedPath(
  written: string,
  resolution: Exclude<PathResolution, { readonly path: string }>,
): string {
  switch (resolution.problem) {
    case 'bad-path':
      return `"${written}" is not a path inside the bundle: ${resolution.says}.`
    case 'link':
      return `"${written}" passes through the symbolic link ${resolution.link}.`
    case 'ambiguous':
      return `"${written}" could be ${resolution.candidates.join(' or ')}.`
    default:
      return `There is no file "${written}".${didYouMean(resolution.near)}`
  }
}
