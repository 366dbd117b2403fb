/** What an edit would change: a sentence, and each call that would be decided otherwise. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { DecideView, WhatIfView } from '../../operations/decisions.ts'
import type { View } from '../parts/view.ts'
import { Icon } from '../parts/icon.tsx'
import { EmptyState, ErrorNote, Loading } from '../parts/states.tsx'
import { aboutNothing, useResource } from '../wire/resource.ts'
import { ChangeList } from '../policy/change-list.tsx'
import { ComparisonView } from '../policy/comparison-view.tsx'
import { DecisionBadge } from '../policy/explanation-view.tsx'
import { isLooserDecision } from '../policy/truth.ts'

/** Opens one decision before and after. */
export type DecideFlip = (run: string, decision: string) => Promise<DecideView>

export function FlipList({ answer, decide }: { readonly answer: WhatIfView; readonly decide: DecideFlip }): View {
  const [opened, setOpened] = useState<string | undefined>(undefined)
  const { calls, flips, decisions, changes, assumed = [], authority } = answer
  const total = changes.reduce((sum, each) => sum + each.flips, 0)
  const looser = changes.filter(({ was, now }) => isLooserDecision(was, now)).reduce((sum, each) => sum + each.flips, 0)
  return (
    <section class="flips" aria-label="What would change">
      <p class="flips-sum" role="status">
        <b>{describeChanges(answer)}</b>
      </p>
      {looser > 0 && (
        <p class="note bad">
          <Icon name="warning" />
          <span>
            {looser === 1 ? 'One call' : `${looser.toLocaleString('en')} calls`} could happen with less than before.
          </span>
        </p>
      )}
      {authority && (
        <>
          <h2 class="section">What it may do</h2>
          <ChangeList changes={authority.changes} />
          <h2 class="section">What was done</h2>
        </>
      )}
      {assumed.length > 0 && (
        <p class="dim">Counted over the recorded calls as they ended: {safeText(assumed.join(', '))}</p>
      )}
      {changes.length > 0 && (
        <ul class="flip-counts">
          {changes.map(({ was, now, flips: count }) => (
            <li key={was + now}>
              <b>{count.toLocaleString('en')}</b> <DecisionBadge decision={was} />
              <Icon name="right" />
              <DecisionBadge decision={now} />
            </li>
          ))}
        </ul>
      )}
      {total === 0 && (
        <EmptyState
          icon="check"
          title={calls === 0 ? 'No call was recorded in this time.' : 'No recorded call is decided otherwise.'}
        />
      )}
      <ol class="flip-rows">
        {flips.map((flip, at) => {
          const id = decisions[at]!
          const isOpen = opened === id
          return (
            <li key={id} class={isLooserDecision(flip.was, flip.now) ? 'looser' : ''}>
              <button
                type="button"
                class="flip-row"
                aria-expanded={isOpen}
                onClick={() => setOpened(isOpen ? undefined : id)}
              >
                <b>{safeText(flip.tool)}</b>
                <span class="flip-move">
                  <DecisionBadge decision={flip.was} />
                  <Icon name="right" />
                  <DecisionBadge decision={flip.now} />
                </span>
                <span class="dim">{safeText(flip.by)}</span>
                <code class="dim">{shortId(flip.runId)}</code>
              </button>
              {isOpen && <OpenedFlip run={flip.runId} decision={id} decide={decide} />}
            </li>
          )
        })}
      </ol>
      {total > flips.length && (
        <p class="dim">
          The first {flips.length.toLocaleString('en')} of {total.toLocaleString('en')} are listed;{' '}
          <code>svc policy backtest</code> lists all.
        </p>
      )}
    </section>
  )
}

function OpenedFlip({
  run,
  decision,
  decide,
}: {
  readonly run: string
  readonly decision: string
  readonly decide: DecideFlip
}): View {
  const decided = useResource(`flip ${decision}`, () => decide(run, decision), aboutNothing)
  const read = decided.value
  return (
    <div class="flip-open">
      <p>
        <a href={`/runs/${run}?tab=why&decision=${decision}`}>Open the run</a>
      </p>
      {read && <ComparisonView decided={read} name="With the edit" />}
      {!read && decided.error && <ErrorNote error={decided.error} />}
      {!read && !decided.error && <Loading rows={3} />}
    </div>
  )
}

/** `12 of 4,310 decisions change: 9 need a person now, 3 would be denied.` */
function describeChanges({ calls, changes }: WhatIfView): string {
  const total = changes.reduce((sum, each) => sum + each.flips, 0)
  const head = `${total.toLocaleString('en')} of ${calls.toLocaleString('en')} ${calls === 1 ? 'decision' : 'decisions'} ${total === 1 ? 'changes' : 'change'}`
  const parts = Object.entries(NOW).flatMap(([now, say]) => {
    const count = changes.filter((each) => each.now === now).reduce((sum, each) => sum + each.flips, 0)
    return count === 0 ? [] : [`${count.toLocaleString('en')} ${say}`]
  })
  return `${head}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}.`
}

const NOW: Readonly<Record<string, string>> = {
  require_approval: 'would need an approval',
  escalate: 'would be escalated',
  deny: 'would be denied',
  allow: 'would be allowed',
}
