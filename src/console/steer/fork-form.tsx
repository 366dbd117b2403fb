/** A new run with the first steps of another as they were, or told what it would do: `svc runs fork [--dry]`. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, parseJson, type JsonValue } from '../../base/json/json.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { DryForkView } from '../../operations/steering.ts'
import type { OutlineRun } from '../../operations/runs.ts'
import { describeDryDifference, describeDryFork } from '../../view/dry-fork-words.ts'
import { announce } from '../parts/announce.ts'
import type { View } from '../parts/view.ts'
import { takeText } from '../parts/input.ts'
import { ErrorNote } from '../parts/states.tsx'
import { goTo } from '../wire/navigation.ts'
import { callOperator, findRefusal, type RequestError } from '../wire/request.ts'
import { aboutNothing, useOperator } from '../wire/resource.ts'
import { ActionForm, type Overruling } from './action-form.tsx'
import { VersionField } from './version-field.tsx'
import { EDITED_MEMBERS } from '../../spec/step.ts'

export function ForkForm({
  run,
  at,
  onDone,
}: {
  readonly run: OutlineRun
  /** Ordinal of the last step that is taken over. */
  readonly at: number
  readonly onDone: () => void
}): View {
  const [version, setVersion] = useState('')
  const [edited, setEdited] = useState<string | undefined>(undefined)
  const [tried, setTried] = useState<DryForkView | undefined>(undefined)
  const [problem, setProblem] = useState<RequestError | undefined>(undefined)
  const [isTrying, setTrying] = useState(false)
  const step = useOperator('GET /runs/:id/step', { id: run.runId, query: { ordinal: String(at) } }, aboutNothing)
  const { type = '', content } = step.value ?? {}
  const member = EDITED_MEMBERS[type]
  const said = member && isJsonObject(content) ? content[member] : undefined
  const original = said === undefined || member === undefined ? undefined : textOf(said, member)
  const isEdited = member !== undefined && edited !== undefined && edited !== original
  const edit = isEdited ? readEdit(edited, member) : undefined
  const body = {
    runs: [run.runId],
    at,
    ...(version !== '' && { version }),
    ...(edit && 'value' in edit && { edits: [{ step: at, value: edit.value }] }),
  }
  const fork = async (overruling: Overruling): Promise<void> => {
    const { items } = await callOperator('POST /runs/fork', { body: { ...body, ...overruling } })
    const [fork] = items
    if (!fork) return
    announce(`Run ${shortId(fork.runId)} is a fork from step ${at}.`)
    goTo(`/runs/${fork.runId}`)
  }
  const tryIt = async (): Promise<void> => {
    setTrying(true)
    const refusal = await findRefusal(async () =>
      setTried((await callOperator('POST /runs/dry-fork', { body })).items[0]),
    )
    if (refusal) setTried(undefined)
    setProblem(refusal)
    setTrying(false)
  }
  const isUnreadable = edit !== undefined && 'problem' in edit
  return (
    <ActionForm
      label="Start the fork"
      title={`A new run of ${safeText(run.agent)} takes over the steps to #${at} as they were. What follows is asked, decided and made anew: its calls happen.`}
      isBlocked={isUnreadable}
      act={fork}
      onDone={onDone}
      also={
        <button type="button" class="button" disabled={isTrying || isUnreadable} onClick={() => void tryIt()}>
          Try it dry
        </button>
      }
    >
      <VersionField agent={run.agent} own={run.versionLabel} value={version} onChange={setVersion} />
      {original !== undefined && (
        <label class="field">
          <span>What step #{at} says</span>
          <textarea
            rows={4}
            class={member === 'text' ? '' : 'json'}
            value={edited ?? original}
            onInput={takeText(setEdited)}
          />
        </label>
      )}
      {isUnreadable && (
        <p class="why-not" role="alert">
          {safeText(edit.problem)}
        </p>
      )}
      {isTrying && (
        <p class="dim" role="status">
          The model is asked; tools and people are played from the recording.
        </p>
      )}
      <ErrorNote error={problem} />
      {tried && <DryResult fork={tried} />}
    </ActionForm>
  )
}

const textOf = (value: JsonValue, member: string): string =>
  member === 'text' && typeof value === 'string' ? value : JSON.stringify(value, null, 2)

function readEdit(text: string, member: string): { readonly value: JsonValue } | { readonly problem: string } {
  if (member === 'text') return { value: text }
  try {
    return { value: parseJson(text) }
  } catch (error) {
    return { problem: `The step is not JSON: ${(error as Error).message}.` }
  }
}

const DryResult = ({ fork }: { readonly fork: DryForkView }): View => (
  <div class={`note ${fork.differs ? 'waiting' : 'ok'}`} role="status">
    <div>
      <p>{describeDryFork(fork)}</p>
      <ul class="dry-differences">
        {fork.differences.map((each, at) => (
          <li key={at}>{describeDryDifference(each)}</li>
        ))}
      </ul>
    </div>
  </div>
)
