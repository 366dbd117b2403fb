/** One task: its card, and what was decided about calls like it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { safeText } from '../../../base/text/escape-text.ts'
import type { TaskDecision } from '../../../client/index.ts'
import { describeDecided, describeMissing } from '../../../view/task/task-people.ts'
import { describeSubject } from '../../../view/task/task-subject.ts'
import { presentTask } from '../../../view/task/task-card.ts'
import { readInboxItem } from '../../../view/task/task-content.ts'
import type { ShownTask } from '../../../spec/task.ts'
import type { InboxItem } from '../../../operations/tasks.ts'
import { listSimilar } from '../../../view/task/bulk-review.ts'
import type { OpenedValues } from '../../card/card-values.tsx'
import { DecidePanel } from '../../card/decide-panel.tsx'
import { digestOfShown, mayDecide, sendDecision, type ShownDigest } from '../../card/decision.ts'
import { countUnreadValues, TaskCardView, whyAddress } from '../../card/task-card.tsx'
import { announce } from '../../parts/announce.ts'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { useKeys } from '../../parts/keys.ts'
import { takeLostFocus } from '../../parts/lost-focus.ts'
import { Age } from '../../parts/moments.tsx'
import { EmptyState, showUnread } from '../../parts/states.tsx'
import { inboxState } from '../../wire/inbox-count.ts'
import { connection, hintAll } from '../../wire/live.ts'
import { goTo } from '../../wire/navigation.ts'
import { callOperator, RequestError } from '../../wire/request.ts'
import { aboutAnySession, aboutNothing, useOperator, useResource } from '../../wire/resource.ts'
import { ReplyPanel } from '../runs/reply.tsx'
import { useSignal } from '../../wire/use-signal.ts'

interface Notice {
  readonly tone: 'ok' | 'bad' | 'waiting'
  readonly text: string
}

export function TaskScreen({
  id,
  onLater,
  onNext,
}: {
  readonly id: string
  readonly onLater: () => void
  readonly onNext: (() => void) | undefined
}): View {
  const isReply = useRef(false)
  // A reply has no task that stays: once it is given, nothing is there to be read.
  const item = useResource(
    `task ${id}`,
    () => callOperator('GET /tasks/:id', { id }),
    (hint) => !isReply.current && aboutAnySession(hint),
  )
  const read = item.value
  const waiting = useSignal(inboxState).value?.items
  const isLost = useSignal(connection) === 'lost'
  // The same task keeps its shape: its digest is computed once, and what was typed stays.
  const text = read && JSON.stringify(read)
  const task = useMemo(() => read && readInboxItem(read), [text])
  const [digest, setDigest] = useState<ShownDigest | undefined>(undefined)
  const [opened, setOpened] = useState<OpenedValues>(new Map())
  const [isSending, setSending] = useState(false)
  const [notice, setNotice] = useState<Notice | undefined>(undefined)
  const seen = useRef<string | undefined>(undefined)
  const [changes, setChanges] = useState(0)
  const similar = task && isOpen(task) ? countSimilar(task, waiting ?? []) : 0
  const together = `/inbox/${id}/similar`
  const reviewTogether = (): void =>
    similar > 0
      ? goTo(together)
      : setNotice({ tone: 'waiting', text: 'No other task that you may decide asks the same: tool and policy lines.' })
  useKeys({
    w: task?.tool ? () => goTo(whyAddress(task)) : undefined,
    x: task?.tool && isOpen(task) ? reviewTogether : undefined,
  })
  useEffect(() => {
    if (!task) return undefined
    let isCurrent = true
    void digestOfShown(task).then((made) => {
      if (!isCurrent) return
      if (seen.current !== undefined && seen.current !== made.view) {
        setOpened(new Map())
        setChanges((count) => count + 1)
        if (task.status === 'pending')
          setNotice({ tone: 'waiting', text: 'The task has changed. Read it again before you decide.' })
      }
      seen.current = made.view
      setDigest(made)
    })
    return () => void (isCurrent = false)
  }, [task])

  // Also where it was shown a moment ago.
  if (item.error?.status === 404 && !isReply.current)
    return <EmptyState icon="cross" title="There is no such task any more." />
  if (!task) return showUnread(item)
  isReply.current = task.kind === 'reply'
  if (isReply.current && waiting && !waiting.some(({ userTaskId }) => userTaskId === id))
    return (
      <EmptyState icon="check" title="The run continues.">
        <p>
          <a href={`/runs/${task.runId}`}>Open the run</a>
        </p>
      </EmptyState>
    )
  const decide = async (decision: TaskDecision): Promise<void> => {
    if (!digest || isSending) return
    setSending(true)
    setNotice(undefined)
    try {
      const accepted = await sendDecision(task, digest, decision)
      const answered = await item.reload()
      hintAll()
      const now = answered && readInboxItem(answered)
      const said = accepted.error === undefined ? describeEnd(now, decision) : refusalOf(now, accepted.error)
      setNotice(said)
      announce(said.text)
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      const lost = error.status === 0 ? ' Whether the decision arrived is shown once it answers again.' : ''
      setNotice({ tone: 'bad', text: `${error.message}${lost}` })
    } finally {
      setSending(false)
    }
  }
  const footer = (
    <>
      {notice && (
        <p class={`note ${notice.tone}`} role="status" tabindex={-1} ref={takeLostFocus}>
          <Icon name={notice.tone === 'ok' ? 'check' : 'warning'} />
          <span>{safeText(notice.text)}</span>
        </p>
      )}
      {task.kind === 'reply' ? (
        <ReplyPanel runId={task.runId} onSent={hintAll} />
      ) : (
        <DecidePanel
          key={changes}
          task={task}
          unread={countUnreadValues(presentTask(task, 0), opened)}
          blocked={blockedBy(digest, isLost)}
          isSending={isSending || digest === undefined}
          onDecide={(decision: TaskDecision) => void decide(decision)}
          onLater={onLater}
        />
      )}
      {task.people?.decided && onNext && (
        <div class="decide">
          <div class="buttons">
            <button type="button" class="button" onClick={onNext}>
              Next task <kbd>n</kbd>
            </button>
          </div>
        </div>
      )}
    </>
  )
  return (
    <>
      <a class="back" href="/inbox">
        <Icon name="left" />
        Inbox
      </a>
      <TaskCardView
        task={task}
        digest={digest}
        opened={opened}
        onOpen={(place: string, isRead: boolean) => setOpened((all) => new Map([...all, [place, isRead]]))}
        links={
          similar > 0 && (
            <a href={together}>
              {similar} more like this <kbd>x</kbd>
            </a>
          )
        }
        footer={footer}
      />
      {task.tool && <SimilarTasks id={task.id} />}
    </>
  )
}

const isOpen = ({ status, people }: ShownTask): boolean => status === 'pending' && people?.decided === undefined

/** Other tasks that ask the same, and that whoever looks may decide. */
function countSimilar(task: ShownTask, waiting: readonly InboxItem[]): number {
  const others = waiting.map(readInboxItem).filter(mayDecide)
  return listSimilar(task, others).length - 1
}

function blockedBy(digest: ShownDigest | undefined, isLost: boolean): string | undefined {
  if (isLost) return 'The server does not answer; decide when it is back.'
  if (digest?.isIntact !== false) return undefined
  return 'The arguments are not those that their digest names. Nothing can be decided here.'
}

/** What is true now. */
function describeEnd(now: ShownTask | undefined, { approved, arguments: edited }: TaskDecision): Notice {
  const decided = now?.people?.decided
  if (decided) return { tone: 'ok', text: endSentence(describeDecided(decided)) }
  const missing = now && describeMissing(now)
  const count = now?.approvalsRequired === undefined ? '' : `${now.approvalsReceived} of ${now.approvalsRequired}; `
  if (edited) return { tone: 'ok', text: `Edited and checked again. ${count}${missing ?? ''}` }
  return { tone: 'ok', text: approved === false ? 'Rejected.' : `Approved: ${count}${missing ?? 'sent'}.` }
}

function refusalOf(now: ShownTask | undefined, error: string): Notice {
  const decided = now?.people?.decided
  return decided
    ? { tone: 'waiting', text: endSentence(`Somebody was first: ${describeDecided(decided)}`) }
    : { tone: 'bad', text: error }
}

/** A reason that a person wrote may end with its own mark. */
const endSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** What people decided about the same tool before. */
function SimilarTasks({ id }: { readonly id: string }): View | null {
  const similar = useOperator('GET /tasks/:id/similar', { id }, aboutNothing)
  const items = similar.value?.items ?? []
  if (items.length === 0) return null
  return (
    <section class="similar">
      <h2>Decided before about this tool</h2>
      <ul>
        {items.slice(0, 5).map((each) => {
          const decided = each.people?.decided
          return (
            <li key={each.userTaskId}>
              <a href={`/inbox/${each.userTaskId}?tab=decided`}>
                <span>{describeSubject(readInboxItem(each))}</span>
                <span class="dim">{decided ? safeText(describeDecided(decided)) : ''}</span>
                <span class="dim">
                  <Age at={decided?.at ?? each.createdAt} />
                </span>
              </a>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
