/**
 * The foot of a card: what the person may do. Nothing is a default, and what cannot be undone needs a second, different act:
 * the button is held, or a sentence is confirmed.
 */
import { useEffect, useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { describeUnread, mustBeOpened, describeEarlyKeys, untilKeysDecide } from '../../view/task/card-reading.ts'
import { outputUnderReview } from '../../view/output-review.ts'
import { findKeyArgument } from '../../view/task/task-subject.ts'
import { presentTask } from '../../view/task/task-card.ts'
import type { ShownTask } from '../../spec/task.ts'
import { announce } from '../parts/announce.ts'
import { HoldButton, useHold } from '../parts/hold-button.tsx'
import type { Child, View } from '../parts/view.ts'
import { takeText } from '../parts/input.ts'
import { useKeys, lastDecidingKey } from '../parts/keys.ts'
import { ConfirmFooter } from './confirm-footer.tsx'
import { mayDecide, mayEdit, needsPasskey, type DecidePanelProps } from './decision.ts'
import { EditPanel } from './edit-panel.tsx'
import { RejectForm } from './reject-form.tsx'
import { ValuePanel } from './value-panel.tsx'
import { serverTime } from '../wire/moment.ts'

type Mode = 'choose' | 'confirm' | 'reject' | 'edit'

export function DecidePanel(props: DecidePanelProps): View | null {
  const { task } = props
  const isVote = task.kind === 'approval' || task.kind === 'escalation'
  if (!mayDecide(task) && !mayEdit(task)) return null
  return isVote ? <VotePanel {...props} /> : <ValuePanel {...props} />
}

function VotePanel({ task, unread, blocked, isSending, onDecide, onLater }: DecidePanelProps): View {
  const [mode, setMode] = useState<Mode>('choose')
  const [typed, setTyped] = useState('')
  const card = presentTask(task, serverTime())
  const reviewed = outputUnderReview(task)
  const [output, setOutput] = useState(reviewed ?? '')
  const fact = findKeyArgument(task.arguments)
  const isUnderstood = task.comprehensionRequired !== true || typed.trim() === String(fact?.value ?? 'yes')
  const isUnread = unread.folded + unread.opened > 0 && mustBeOpened(card, task)
  const why =
    blocked ??
    (isUnread ? describeUnread(unread) : undefined) ??
    (isUnderstood ? undefined : `Type ${fact ? safeText(fact.name) : '"yes"'} as the call has it.`)
  const { isRead, early, onEarly } = useReading()
  const canApprove = mayDecide(task) && why === undefined && !isSending
  const approve = (edited?: JsonObject): void =>
    onDecide({
      approved: true,
      ...(edited && { arguments: edited }),
      ...(task.comprehensionRequired === true && { acknowledged: true }),
      ...(reviewed !== undefined && { textValue: output.trim() }),
    })
  const hold = useHold(() => canApprove && approve())
  const press = (): void => {
    if (!canApprove) return
    if (card.needsSecondAct) setMode('confirm')
    else approve()
  }
  useKeys({
    a: (event) => {
      if (mode !== 'choose' || !mayDecide(task)) return
      if (!isRead) return onEarly(event.key)
      if (event.repeat) return
      if (why !== undefined) announce(why)
      if (!canApprove) return
      if (card.needsSecondAct) hold.handle.begin()
      else approve()
    },
    r: () => mayDecide(task) && setMode('reject'),
    e: mayEdit(task) ? () => setMode('edit') : undefined,
    l: onLater,
  })
  useReleased('a', () => hold.handle.end() && setMode('confirm'))

  if (mode === 'edit')
    return (
      <EditPanel task={task} isSending={isSending} hint={why} onCancel={() => setMode('choose')} onSend={approve}>
        <Comprehension task={task} typed={typed} onType={setTyped} />
      </EditPanel>
    )
  if (mode === 'reject')
    return (
      <RejectForm
        isDisabled={isSending}
        onCancel={() => setMode('choose')}
        onSend={(comment: string) => onDecide({ approved: false, ...(comment !== '' && { comment }) })}
      >
        {task.kind === 'approval' && <p class="dim">{describeRejection(task)}</p>}
      </RejectForm>
    )
  if (mode === 'confirm')
    return (
      <ConfirmFooter
        warning={`This ${card.isIrreversible ? 'cannot be undone once it is sent' : 'was done before'}.`}
        isDisabled={!canApprove}
        onApprove={() => approve()}
        onBack={() => setMode('choose')}
      >
        Yes, approve {safeText(task.tool?.ref ?? 'this')}
      </ConfirmFooter>
    )
  const offered = isRead && canApprove ? 'a' : undefined
  const label: Child = (
    <>
      {card.needsSecondAct ? 'Hold to approve' : 'Approve'}
      {needsPasskey(task) && ' with a passkey'} <kbd>a</kbd>
    </>
  )
  return (
    <footer class="decide" role="group" aria-label="Decide">
      {reviewed !== undefined && (
        <label class="field">
          <span>Output as it should be</span>
          <textarea rows={6} class="json" value={output} onInput={takeText(setOutput)} />
        </label>
      )}
      {mayDecide(task) && <Comprehension task={task} typed={typed} onType={setTyped} />}
      {why !== undefined && mayDecide(task) && <p class="why-not">{why}</p>}
      {early !== undefined && (
        <p class="why-not" role="alert">
          {early}
        </p>
      )}
      <div class="buttons">
        {mayDecide(task) &&
          (card.needsSecondAct ? (
            <HoldButton hold={hold} disabled={!canApprove} keyName={offered} onShort={press}>
              {label}
            </HoldButton>
          ) : (
            <button
              type="button"
              class="button primary"
              disabled={!canApprove}
              aria-keyshortcuts={offered}
              onClick={press}
            >
              {label}
            </button>
          ))}
        {mayDecide(task) && (
          <button type="button" class="button" disabled={isSending} onClick={() => setMode('reject')}>
            Reject <kbd>r</kbd>
          </button>
        )}
        {mayEdit(task) && (
          <button type="button" class="button" disabled={isSending} onClick={() => setMode('edit')}>
            Edit <kbd>e</kbd>
          </button>
        )}
        <button type="button" class="button quiet" onClick={onLater}>
          Later <kbd>l</kbd>
        </button>
      </div>
    </footer>
  )
}

/** Where a policy requires it, the approver types the fact that says most about the call. */
function Comprehension({
  task,
  typed,
  onType,
}: {
  readonly task: ShownTask
  readonly typed: string
  readonly onType: (text: string) => void
}): View | null {
  if (task.comprehensionRequired !== true) return null
  const fact = findKeyArgument(task.arguments)
  const text = fact ? `To approve, type ${safeText(fact.name)}` : 'To approve, type yes'
  return (
    <label class="field comprehension">
      <span>{text}</span>
      <input value={typed} autocomplete="off" spellcheck={false} onInput={takeText(onType)} />
    </label>
  )
}

const describeRejection = ({ onReject }: ShownTask): string =>
  onReject === 'fail' ? 'The run fails.' : 'The agent reads the reason and continues without the call.'

/** Calls `act` when a key is let go. */
function useReleased(key: string, act: () => void): void {
  useEffect(() => {
    const onUp = (event: KeyboardEvent): void => void (event.key === key && act())
    addEventListener('keyup', onUp)
    return () => removeEventListener('keyup', onUp)
  })
}

interface CardReading {
  /**
   * True once the card has been shown for a while and no deciding key was typed recently: the second key of a double press
   * decides nothing, nor does a key that is still held.
   */
  readonly isRead: boolean
  /** What is said about a key that came too early; undefined where none did. */
  readonly early: string | undefined
  /** For a key that came while the card was not read. */
  readonly onEarly: (key: string) => void
}

/** The time starts when the component is mounted. */
function useReading(): CardReading {
  const [isRead, setRead] = useState(false)
  const [early, setEarly] = useState<string | undefined>(undefined)
  const onEarly = (key: string): void => setEarly(describeEarlyKeys([key]))
  useEffect(() => {
    const shownAt = performance.now()
    const typed = lastDecidingKey()
    // Typed while the card was still being read from the server.
    if (!typed.isTaken && untilKeysDecide(-Infinity, typed.at, shownAt) > 0) onEarly(typed.key)
    let timer: ReturnType<typeof setTimeout> | undefined
    const check = (): void => {
      const left = untilKeysDecide(shownAt, lastDecidingKey().at, performance.now())
      if (left <= 0) setRead(true)
      else timer = setTimeout(check, left)
    }
    check()
    return () => clearTimeout(timer)
  }, [])
  return { isRead, early, onEarly }
}
