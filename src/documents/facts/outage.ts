/** The annotations `svc/on-outage` and `svc/max-outage`. Source: docs/design/runs-and-recovery.md#hold-instead-of-fail */
import { parseDuration } from '../../base/duration.ts'

export const ON_OUTAGE = 'svc/on-outage'
export const MAX_OUTAGE = 'svc/max-outage'

const LONGEST_MS = 30 * 86_400_000

export type OutageTerms = { readonly onOutage?: 'fail'; readonly maxOutageMs?: number }

export const ON_OUTAGE_FORM = `${ON_OUTAGE} is "hold" or "fail".`
export const MAX_OUTAGE_FORM = `${MAX_OUTAGE} is a duration from 1s to 30d, such as "6h".`

/** The fault in an annotation of this name; undefined without one. */
export function outageProblem(name: string, text: string): string | undefined {
  if (name === ON_OUTAGE) return text === 'hold' || text === 'fail' ? undefined : ON_OUTAGE_FORM
  if (name !== MAX_OUTAGE) return undefined
  const ms = parseDuration(text)
  return ms !== undefined && ms >= 1000 && ms <= LONGEST_MS ? undefined : MAX_OUTAGE_FORM
}

/** The values of valid annotations. */
export function readOutageTerms(annotations: Readonly<Record<string, string>>): OutageTerms {
  const longest = annotations[MAX_OUTAGE]
  const maxOutageMs = longest === undefined ? undefined : parseDuration(longest)
  return {
    ...(annotations[ON_OUTAGE] === 'fail' && { onOutage: 'fail' as const }),
    ...(maxOutageMs !== undefined && { maxOutageMs }),
  }
}
