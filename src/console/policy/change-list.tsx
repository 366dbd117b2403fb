/** What one version does that another did not, each with a call that shows it. */
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import type { ChangeView } from '../../operations/versions.ts'
import { Badge } from '../parts/badge.tsx'
import type { View } from '../parts/view.ts'
import { DECISIONS } from './truth.ts'

export const ChangeList = ({ changes }: { readonly changes: readonly ChangeView[] }): View =>
  changes.length === 0 ? (
    <p class="dim">Nothing changes.</p>
  ) : (
    <ul class="changes-list">
      {changes.map((change, at) => (
        <li key={at} class={change.widens ? 'wider' : ''}>
          <p>
            {change.widens ? (
              <Badge tone="bad" icon="warning" text="may do more" />
            ) : (
              <Badge tone="quiet" icon="dot" text={change.severity} />
            )}
            <span>{safeText(sentenceOf(change))}</span>
            {change.path !== null && <span class="place">{safeText(change.path)}</span>}
          </p>
          {change.witness && <Witness witness={change.witness} />}
        </li>
      ))}
    </ul>
  )

const wordOf = (decision: string): string =>
  decision === 'refused' ? 'refused by the input schema' : (DECISIONS[decision]?.[2] ?? safeText(decision))

/** A call that shows it, with what else must be true for it. */
function Witness({ witness }: { readonly witness: NonNullable<ChangeView['witness']> }): View {
  const { tool, arguments: args, context = {}, before, after } = witness
  const where = Object.entries(context).map(([path, value]) => `${path} ${safeJson(value)}`)
  return (
    <p class="witness">
      <span>for example </span>
      <code>
        {safeText(tool)} {safeJson(args)}
        {where.length > 0 && ` with ${safeText(where.join(', '))}`}
      </code>
      {before === after ? (
        <>
          {' '}
          <b>is still {wordOf(after)}</b>, with less asked for
        </>
      ) : (
        <>
          <span class="dim"> was </span>
          {wordOf(before)}
          <span class="dim">, is </span>
          <b>{wordOf(after)}</b>
        </>
      )}
    </p>
  )
}

/** The sentence ends with its witness, which has a line of its own here. */
function sentenceOf({ say, witness }: ChangeView): string {
  const at = witness ? say.lastIndexOf('; {') : -1
  return at === -1 ? say : say.slice(0, at)
}
