/** What can be done about a run: end it, and take it elsewhere as a command. */
import { useState } from 'preact/hooks'
import { shortId } from '../../base/short-text.ts'
import type { Conversation } from '../../spec/api.ts'
import { writeScenario } from '../../spec/view/run-scenario.ts'
import type { OutlineRun } from '../../spec/operator-views.ts'
import { announce } from '../parts/announce.ts'
import { html, type View } from '../parts/html.ts'
import { Icon } from '../parts/icon.ts'
import { focusWhenShown } from '../parts/keys.ts'
import { hintAll } from '../wire/live.ts'
import { callOperator, RequestError } from '../wire/request.ts'

export function RunActions({ run }: { readonly run: OutlineRun }): View {
  const [isAsking, setAsking] = useState(false)
  const isOpen = run.finishedAt === null
  return html`
    <div class="run-actions buttons">
      <${CopyMenu} run=${run} />
      ${isOpen && html`<button type="button" class="button small danger" onClick=${() => setAsking(true)}><${Icon} name="stop" />Cancel run</button>`}
    </div>
    ${isAsking && isOpen && html`<${CancelForm} runId=${run.runId} onDone=${() => setAsking(false)} />`}
  `
}

function CancelForm({ runId, onDone }: { readonly runId: string; readonly onDone: () => void }): View {
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const cancel = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      const { after } = await callOperator('POST /runs/:id/cancel', {
        id: runId,
        body: reason === '' ? {} : { reason },
      })
      announce(`The run is ${after}.`)
      hintAll()
      onDone()
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      setProblem(error.message)
    }
  }
  return html`
    <form class="cancel-form" onSubmit=${(event: Event) => void cancel(event)}>
      <p>The run and its sub-agent runs end; a call that is under way may still happen.</p>
      <label class="field"
        ><span>Reason</span
        ><input
          ref=${focusWhenShown}
          value=${reason}
          maxlength="300"
          onInput=${(event: { currentTarget: HTMLInputElement }) => setReason(event.currentTarget.value)}
      /></label>
      ${problem !== undefined && html`<p class="why-not" role="alert">${problem}</p>`}
      <div class="buttons">
        <button class="button danger">Cancel the run</button
        ><button type="button" class="button" onClick=${onDone}>Back</button>
      </div>
    </form>
  `
}

/** Takes the run into a shell: as `svc` commands, as curl, or as a link. */
function CopyMenu({ run }: { readonly run: OutlineRun }): View {
  const [copied, setCopied] = useState('')
  const copy = async (name: string, text: string): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(name)
    announce(`Copied ${name}.`)
    setTimeout(() => setCopied(''), 1500)
  }
  const again = async (): Promise<string> => {
    const { session } = await callOperator('GET /v1/runs/:id/conversation', { id: run.runId, query: { take: '1' } })
    return `svc run ${run.agent} --input - <<'EOF'\n${JSON.stringify(session.input, null, 2)}\nEOF`
  }
  const scenario = async (): Promise<string> => {
    const all = await readWholeConversation(run.runId)
    return writeScenario(all, `${run.agent} ${shortId(run.runId)}`)
  }
  const items: readonly (readonly [string, () => Promise<string> | string])[] = [
    ['link', () => location.href],
    ['svc command', () => `svc runs conversation ${run.runId}`],
    ['svc command that runs it again', again],
    ['scenario test', scenario],
    ['curl', () => `curl -H "X-API-Key: $SVC_API_KEY" "$SVC_BASE_URL/v1/runs/${run.runId}/conversation"`],
  ]
  return html`
    <details class="menu">
      <summary class="button small"><${Icon} name="copy" />${copied === '' ? 'Copy' : 'Copied'}</summary>
      <div class="menu-items">
        ${items.map(([name, text]) => html`<button type="button" key=${name} onClick=${async () => copy(name, await text())}>${name}</button>`)}
      </div>
    </details>
  `
}

/** Everything that was said, page by page. */
async function readWholeConversation(id: string): Promise<Conversation> {
  let all = await callOperator('GET /v1/runs/:id/conversation', { id, query: { take: '500' } })
  while (all.nextCursor) {
    const query = { take: '500', cursor: all.nextCursor }
    const next = await callOperator('GET /v1/runs/:id/conversation', { id, query })
    all = { ...next, items: [...all.items, ...next.items] }
  }
  return all
}
