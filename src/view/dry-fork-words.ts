/** Describes the result of a dry fork, for the terminal and the console. */
import { safeJson, safeText } from '../base/text/escape-text.ts'
import type { DryDifference, DryForkView } from '../operations/steering.ts'

/** `as 1.5.0: Completed, with another output`. */
export function describeDryFork({ versionLabel, status, output, differs, stopped }: DryForkView): string {
  const result = status.was === status.would ? status.would : `${status.would} instead of ${status.was}`
  const compared = output.isSame ? ', as it was' : ', with another output'
  const same = differs ? '' : compared
  return safeText(`as ${versionLabel.would}: ${stopped === undefined ? result + same : `stopped: ${stopped}`}`)
}

export function describeDryDifference({ what, tool, arguments: given, was, would }: DryDifference): string {
  const call = `${tool} ${safeJson(given)}`
  if (what === 'decided') return safeText(`${call}: ${words(would)} instead of ${words(was)}`)
  return safeText(what === 'called' ? `would call ${call}: ${words(would)}` : `would not call ${call}`)
}

const words = (decision = 'not decided'): string => decision.replaceAll('_', ' ')
