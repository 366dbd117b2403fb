/** Acts as people read them, in a terminal and in a browser. */
import { safeText } from '../base/text/escape-text.ts'
import type { ActView } from '../operations/acts.ts'

/** `ana@example.com`; `the server` for itself; `somebody` where nobody proved a name. */
export function describeActor({ by }: Pick<ActView, 'by'>): string {
  const at = by.indexOf(':')
  const [type, name] = [by.slice(0, at), by.slice(at + 1)]
  if (type === 'server') return 'the server'
  if (name === '') return 'somebody'
  return type === 'claimed' ? `${safeText(name)} (claimed)` : safeText(name)
}

/** `published demo.agent@1.2.0`; of a refusal `was refused: version.deployed, POST /deploy (version_yanked, 3 times)`. */
export function nameAct({
  kind,
  words,
  subject,
  refused,
  count,
}: Pick<ActView, 'kind' | 'words' | 'subject' | 'refused' | 'count'>): string {
  if (refused === null) return `${words} ${safeText(subject)}`
  return `was refused: ${kind}, ${safeText(subject)} (${refused}${count > 1 ? `, ${count} times` : ''})`
}
