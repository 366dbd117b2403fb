/** What can be done about a run: end it, resume it, repeat it, and take it elsewhere as a command. */
import { useState } from 'preact/hooks'
import { shortId } from '../../../base/text/short-text.ts'
import type { RunStatusBody } from '../../../spec/api.ts'
import type { OutlineRun } from '../../../operations/runs.ts'
import { announce } from '../../parts/announce.ts'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { ForkForm } from '../../steer/fork-form.tsx'
import { CancelForm, ResumeForm, RetryForm } from '../../steer/run-forms.tsx'
import { UndoForm } from '../../steer/undo-form.tsx'
import { address, goTo, withQuery } from '../../wire/navigation.ts'
import { callOperator } from '../../wire/request.ts'
import { aboutNothing, useResource } from '../../wire/resource.ts'

/** What may be asked for; the server says whether it is possible now. */
type Asked = 'cancel' | 'resume' | 'retry' | 'undo'

/** Holds that an operator's word does not end: a pause and a backup have their own verbs, a wait has its moment. */
const ENDS_OTHERWISE: ReadonlySet<string> = new Set([
  'paused',
  'restored',
  'storage_full',
  'timer',
  'signal',
  'external',
])

interface RunActionsProps {
  readonly run: OutlineRun
  /** Number of its last step that is known. */
  readonly last: number
  /** Undefined until it was read. */
  readonly status: RunStatusBody | undefined
}

export function RunActions({ run, last, status }: RunActionsProps): View {
  const [asked, setAsked] = useState<Asked | undefined>(undefined)
  const { query } = address.value
  const forked = query.has('fork') ? Number(query.get('fork')) : undefined
  const isOpen = run.finishedAt === null
  const { hold, erasedAt } = status ?? {}
  // What was erased can only be looked at.
  const isErased = erasedAt !== undefined
  const mayRepeat = run.parentRunId === null && !isErased
  const mayResume =
    mayRepeat && (isOpen ? hold !== undefined && !ENDS_OTHERWISE.has(hold.reason) : run.status !== 'Completed')
  const isOffered = status && !isErased && (run.status === 'Failed' || run.status === 'Cancelled')
  const { undoable = 0 } =
    useResource(
      `undo offer ${run.runId} ${isOffered ? last : ''}`,
      async () => (isOffered ? callOperator('GET /runs/:id/undo', { id: run.runId }) : undefined),
      aboutNothing,
    ).value ?? {}
  const ask = (what: Asked) => (event: { readonly currentTarget: HTMLElement }) => {
    event.currentTarget.closest('details')?.removeAttribute('open')
    setAsked(what)
  }
  const agent = encodeURIComponent(run.agent)
  const done = (): void => setAsked(undefined)
  return (
    <>
      <div class="run-actions buttons">
        <CopyMenu run={run} />
        {mayResume && (
          <button type="button" class="button small primary" onClick={ask('resume')}>
            <Icon name="try" />
            Resume
          </button>
        )}
        {isOpen && (
          <button type="button" class="button small danger" onClick={ask('cancel')}>
            <Icon name="stop" />
            Cancel run
          </button>
        )}
        {!isErased && (mayRepeat || !isOpen) && (
          <details class="menu more-actions">
            <summary class="button small">More</summary>
            <div class="menu-items">
              {!isOpen && mayRepeat && (
                <button type="button" onClick={ask('retry')}>
                  Run again<small>same input, deployed version</small>
                </button>
              )}
              {mayRepeat && (
                <a href={`/try/${agent}?like=${run.runId}`}>
                  Start like this<small>with other input</small>
                </a>
              )}
              {!isOpen && mayRepeat && (
                <a href={`/try/${agent}?after=${run.runId}`}>
                  Follow up<small>sees this conversation</small>
                </a>
              )}
              {!isOpen && (
                <button type="button" onClick={ask('undo')}>
                  Undo…<small>its calls, newest first</small>
                </button>
              )}
            </div>
          </details>
        )}
      </div>
      {undoable > 0 && asked === undefined && (
        <p class="note waiting">
          <Icon name="warning" />
          <span>
            {undoable === 1 ? 'A call' : `${undoable} calls`} that this run made can be undone.
            <button type="button" class="link" onClick={ask('undo')}>
              Undo…
            </button>
          </span>
        </p>
      )}
      {asked === 'undo' && !isOpen && <UndoForm id={run.runId} last={last} onDone={done} />}
      {asked === 'cancel' && isOpen && <CancelForm runId={run.runId} onDone={done} />}
      {asked === 'resume' && mayResume && <ResumeForm run={run} onDone={done} />}
      {asked === 'retry' && !isOpen && <RetryForm run={run} onDone={done} />}
      {forked !== undefined && (
        <ForkForm key={forked} run={run} at={forked} onDone={() => goTo(withQuery({ fork: undefined }), true)} />
      )}
    </>
  )
}

/** Takes the run into a shell: as `svc` commands, as curl, or as a link. */
function CopyMenu({ run }: { readonly run: OutlineRun }): View {
  const [copied, setCopied] = useState('')
  const copy = async (name: string, read: () => Promise<string> | string): Promise<void> => {
    await navigator.clipboard.writeText(await read())
    setCopied(name)
    announce(`Copied ${name}.`)
    setTimeout(() => setCopied(''), 1500)
  }
  const again = async (): Promise<string> => {
    const { session } = await callOperator('GET /v1/runs/:id/conversation', { id: run.runId, query: { take: '1' } })
    return `svc run ${run.agent} --input - <<'EOF'\n${JSON.stringify(session.input, null, 2)}\nEOF`
  }
  const scenario = async (): Promise<string> => {
    const name = `${run.agent} ${shortId(run.runId)}`
    return (await callOperator('GET /runs/:id/scenario', { id: run.runId, query: { name } })).text
  }
  const items: readonly (readonly [string, () => Promise<string> | string])[] = [
    ['link', () => location.href],
    ['svc command', () => `svc runs conversation ${run.runId}`],
    ['svc command that runs it again', again],
    ['scenario test', scenario],
    ['curl', () => `curl -H "X-API-Key: $SVC_API_KEY" "$SVC_BASE_URL/v1/runs/${run.runId}/conversation"`],
  ]
  return (
    <details class="menu">
      <summary class="button small">
        <Icon name="copy" />
        {copied === '' ? 'Copy' : 'Copied'}
      </summary>
      <div class="menu-items">
        {items.map(([name, read]) => (
          <button type="button" key={name} onClick={() => void copy(name, read)}>
            {name}
          </button>
        ))}
      </div>
    </details>
  )
}
