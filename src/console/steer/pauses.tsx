/** What operators have paused, and how a pause begins and ends: `svc stop`, `svc agents pause|resume`. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import type { PauseView } from '../../operations/pauses.ts'
import { CHECKPOINT_DEMAND, describePaused, type PauseTarget } from '../../spec/steer/pause.ts'
import { describeApprover } from '../../view/task/task-people.ts'
import { announce } from '../parts/announce.ts'
import type { View } from '../parts/view.ts'
import { Icon } from '../parts/icon.tsx'
import { Age } from '../parts/moments.tsx'
import { ErrorNote } from '../parts/states.tsx'
import { callOperator } from '../wire/request.ts'
import { aboutWorkspace, useOperator } from '../wire/resource.ts'
import { ActionForm, ReasonField } from './action-form.tsx'

/**
 * A note for each pause, with a way to end it, and a button that pauses what the screen is about.
 * @param agent name of the agent whose pauses are shown; those of everything where absent
 */
export function Pauses({ agent }: { readonly agent?: string }): View {
  const [asked, setAsked] = useState<(PauseTarget & { readonly isPaused: boolean }) | undefined>(undefined)
  const read = useOperator('GET /pauses', { query: {} }, aboutWorkspace)
  const items = (read.value?.items ?? []).filter((each) => agent === undefined || concerns(each, agent))
  const target: PauseTarget = agent === undefined ? { kind: 'all', name: '' } : { kind: 'agent', name: agent }
  const isPaused = items.some((each) => each.kind === target.kind && each.name === target.name && isByOperator(each))
  const done = (): void => setAsked(undefined)
  return (
    <div class="pauses">
      <ErrorNote error={read.error} />
      {items.map((each) => (
        <div class="note waiting pause" role="status" key={`${each.kind} ${each.name} ${each.by}`}>
          <Icon name="stop" />
          <span>
            <b>Paused: {safeText(describePaused(each))}</b>, <Age at={each.at} />
            {byWhom(each)}
          </span>
          {isByOperator(each) && (
            <button type="button" class="button small" onClick={() => setAsked({ ...each, isPaused: false })}>
              End the pause<span class="unseen">: {safeText(describePaused(each))}</span>
            </button>
          )}
        </div>
      ))}
      {read.value && !isPaused && (
        <button type="button" class="button small danger" onClick={() => setAsked({ ...target, isPaused: true })}>
          <Icon name="stop" />
          {agent === undefined ? 'Stop everything' : 'Pause agent'}
        </button>
      )}
      {asked && <PauseForm key={`${asked.kind} ${asked.name}`} {...asked} onDone={done} />}
    </div>
  )
}

/** Nobody but a checkpoint ends the other. */
const isByOperator = ({ by }: PauseView): boolean => by !== CHECKPOINT_DEMAND

/** `, by operator ana: the bank called` */
const byWhom = ({ by, reason }: PauseView): string =>
  safeText(`, by ${describeApprover(by)}${reason === null ? '' : `: ${reason}`}`)

/** True for a pause that holds an agent: its own, that of one of its versions, or that of everything. */
const concerns = ({ kind, name }: PauseView, agent: string): boolean =>
  kind === 'all' || (kind === 'agent' && name === agent) || (kind === 'version' && name.startsWith(`${agent}@`))

function PauseForm({
  kind,
  name,
  isPaused,
  onDone,
}: PauseTarget & { readonly isPaused: boolean; readonly onDone: () => void }): View {
  const [reason, setReason] = useState('')
  const what = describePaused({ kind, name })
  const act = async (): Promise<void> => {
    const { changed, total } = await callOperator('POST /pauses', {
      body: { kind, ...(name !== '' && { name }), paused: isPaused, ...(reason !== '' && { reason }) },
    })
    const runs = `${total} open ${total === 1 ? 'run' : 'runs'}`
    announce(
      changed ? `${what}: ${isPaused ? `paused, ${runs} held` : `no longer paused, ${runs}`}.` : 'Nothing has changed.',
    )
  }
  return (
    <ActionForm
      label={isPaused ? 'Pause it' : 'End the pause'}
      title={
        isPaused ? (
          <>
            No new call or completion of <b>{safeText(what)}</b> leaves within a second. What is under way ends; runs
            stay where they are.
          </>
        ) : (
          <>
            Calls and completions of <b>{safeText(what)}</b> leave again; what was approved meanwhile is decided once
            more.
          </>
        )
      }
      isDangerous={isPaused}
      act={act}
      onDone={onDone}
    >
      <ReasonField value={reason} onInput={setReason} />
    </ActionForm>
  )
}
