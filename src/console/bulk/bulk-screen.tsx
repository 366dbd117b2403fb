/**
 * Tasks that ask the same, decided together: a list with each argument as a column, and one request for each task with the
 * digest of what this list shows of it. What arrives later is not among them. Source: docs/design/console.md#several-tasks-at-once
 */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { isIrreversibleCall, type ShownTask } from '../../spec/task.ts'
import { listSimilar, sumAmounts } from '../../view/task/bulk-review.ts'
import { readInboxItem } from '../../view/task/task-content.ts'
import { mayDecide } from '../card/decision.ts'
import { announce } from '../parts/announce.ts'
import type { View } from '../parts/view.ts'
import { Icon } from '../parts/icon.tsx'
import { useKeys } from '../parts/keys.ts'
import { EmptyState, Loading } from '../parts/states.tsx'
import { inboxState } from '../wire/inbox-count.ts'
import { connection, hintAll } from '../wire/live.ts'
import { goTo } from '../wire/navigation.ts'
import { BulkDecidePanel } from './bulk-decide-panel.tsx'
import { findReviewProblem, sendTogether, viewTextOf, type BulkResult } from './bulk-decision.ts'
import { BulkTable } from './bulk-table.tsx'
import { useSignal } from '../wire/use-signal.ts'

export function BulkScreen({ id = '' }: { readonly id?: string }): View {
  const back = `/inbox/${id}`
  useKeys({ Escape: () => goTo(back) })
  const [reviewed, setReviewed] = useState<readonly ShownTask[] | undefined>(undefined)
  const items = useSignal(inboxState).value?.items
  const waiting = useMemo(() => items?.map(readInboxItem).filter(mayDecide), [items])
  useEffect(() => {
    if (reviewed !== undefined || waiting === undefined) return
    const of = waiting.find((each) => each.id === id)
    setReviewed(of ? listSimilar(of, waiting) : [])
  }, [waiting])
  if (reviewed === undefined || waiting === undefined) return <Loading />
  const [of] = reviewed
  if (!of)
    return (
      <EmptyState icon="check" title="This task does not wait for you any more." isScreen>
        <p>
          <a href="/inbox">Go to the inbox</a>
        </p>
      </EmptyState>
    )
  return <Review key={id} back={back} reviewed={reviewed} waiting={waiting} />
}

function Review({
  back,
  reviewed,
  waiting,
}: {
  readonly back: string
  /** As they were when the list was opened. */
  readonly reviewed: readonly ShownTask[]
  /** As they are. */
  readonly waiting: readonly ShownTask[]
}): View {
  const now = new Map(waiting.map((task) => [task.id, task]))
  const alone = reviewed.filter((task) => findReviewProblem(task) !== undefined)
  const tasks = reviewed.filter((task) => !alone.includes(task)).map((task) => now.get(task.id) ?? task)
  const [picked, setPicked] = useState<ReadonlySet<string>>(() => new Set(tasks.map((task) => task.id)))
  const [results, setResults] = useState<ReadonlyMap<string, BulkResult>>(new Map())
  const [isSending, setSending] = useState(false)
  const isLost = useSignal(connection) === 'lost'
  const seen = useRef(new Map(tasks.map((task) => [task.id, viewTextOf(task)])))
  const settle = (id: string, result: BulkResult): void => setResults((all) => new Map([...all, [id, result]]))
  // Who ticked a row meant what it said then.
  useEffect(() => {
    for (const task of tasks) {
      if (results.get(task.id)?.isFinal === true || isSending) continue
      const isGone = !now.has(task.id)
      if (!isGone && seen.current.get(task.id) === viewTextOf(task)) continue
      seen.current.set(task.id, viewTextOf(task))
      setPicked((all) => new Set([...all].filter((each) => each !== task.id)))
      settle(
        task.id,
        isGone
          ? { tone: 'quiet', text: 'decided or gone meanwhile', isFinal: true }
          : { tone: 'warn', text: 'has changed: read it again', isFinal: false },
      )
    }
  }, [waiting, isSending])
  const chosen = tasks.filter(({ id }) => picked.has(id))
  const decide = async (approved: boolean, comment: string): Promise<void> => {
    setSending(true)
    const done = await sendTogether(chosen, { approved, comment }, (id, result) => {
      settle(id, result)
      if (result.isFinal) setPicked((all) => new Set([...all].filter((each) => each !== id)))
    })
    hintAll()
    setSending(false)
    announce(`${approved ? 'Approved' : 'Rejected'} ${done} of ${chosen.length}.`)
  }
  const more = listSimilar(reviewed[0]!, waiting).filter(({ id }) => !reviewed.some((each) => each.id === id)).length
  return (
    <section class="screen">
      <a class="back-link" href={back}>
        <Icon name="left" />
        Card
      </a>
      <header class="screen-head">
        <h1>
          {safeText(reviewed[0]!.tool?.ref ?? 'Tasks')}
          <span class="dim"> · {tasks.length} similar requests</span>
        </h1>
      </header>
      {tasks.length > 0 && (
        <BulkTable tasks={tasks} picked={picked} results={results} isSending={isSending} onPick={setPicked} />
      )}
      {alone.length > 0 && <Alone tasks={alone} />}
      {more > 0 && (
        <p class="dim">
          {more} more {more === 1 ? 'has' : 'have'} arrived since. <a href={back}>Open the card</a> and list them again.
        </p>
      )}
      {tasks.length > 0 && (
        <BulkDecidePanel
          count={chosen.length}
          totals={sumAmounts(chosen)
            .map((each) => ` · ${each}`)
            .join('')}
          isIrreversible={chosen.some(isIrreversibleCall)}
          blocked={isLost ? 'The server does not answer; decide when it is back.' : undefined}
          isSending={isSending}
          onDecide={(approved: boolean, comment: string) => void decide(approved, comment)}
        />
      )}
    </section>
  )
}

/** Those that are decided on their own cards, and why. */
const Alone = ({ tasks }: { readonly tasks: readonly ShownTask[] }): View => (
  <div class="note waiting">
    <Icon name="person" />
    <div>
      <p>
        {tasks.length === 1 ? 'One is' : `${tasks.length} are`} decided alone: {tasks.map(findReviewProblem)[0]}.
      </p>
      <p>
        {tasks.slice(0, MOST_ALONE).map(({ id }) => (
          <>
            <a class="waiting-link" key={id} href={`/inbox/${id}`}>
              {id.slice(-6)}
            </a>{' '}
          </>
        ))}
      </p>
    </div>
  </div>
)

const MOST_ALONE = 20
