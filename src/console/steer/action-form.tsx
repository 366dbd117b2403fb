/** The frame of a form that acts on a run: what will happen, its fields, why the server refused, and a way back. */
import { useState } from 'preact/hooks'
import type { Child, View } from '../parts/view.ts'
import { takeText } from '../parts/input.ts'
import { focusWhenShown } from '../parts/keys.ts'
import { ErrorNote } from '../parts/states.tsx'
import { hintAll } from '../wire/live.ts'
import { findRefusal, type RequestError } from '../wire/request.ts'

/** Refusals that a person may overrule, and how they say so. */
const OVERRULED: Readonly<Record<string, readonly ['allowWiden' | 'allowYanked', string]>> = {
  version_wider: ['allowWiden', 'It may do more, and that is intended.'],
  version_yanked: ['allowYanked', 'It is yanked, and that is intended.'],
}

export type Overruling = { readonly allowWiden?: true; readonly allowYanked?: true }

export function ActionForm({
  label,
  title,
  isDangerous = false,
  isBlocked = false,
  isWide = false,
  act,
  onDone,
  also,
  children,
}: {
  /** Of the button that acts. */
  readonly label: string
  readonly title: Child
  readonly isDangerous?: boolean
  /** What is typed cannot be sent. */
  readonly isBlocked?: boolean
  /** As wide as the screen. */
  readonly isWide?: boolean
  readonly act: (overruling: Overruling) => Promise<void>
  readonly onDone: () => void
  /** Further buttons. */
  readonly also?: Child
  readonly children?: Child
}): View {
  const [refusal, setRefusal] = useState<RequestError | undefined>(undefined)
  const [overruling, setOverruling] = useState<Overruling>({})
  const [isSending, setSending] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setSending(true)
    const refused = await findRefusal(async () => {
      await act(overruling)
      hintAll()
      onDone()
    })
    setRefusal(refused)
    setSending(false)
  }
  const choice = refusal && OVERRULED[refusal.code]
  return (
    <form class={`cancel-form ${isWide ? 'wide' : ''}`} onSubmit={(event: Event) => void submit(event)}>
      <p>{title}</p>
      {children} <ErrorNote error={refusal} />
      {choice && (
        <label class="switch">
          <input
            type="checkbox"
            checked={overruling[choice[0]] === true}
            onChange={(event: { currentTarget: HTMLInputElement }) =>
              setOverruling(event.currentTarget.checked ? { ...overruling, [choice[0]]: true } : {})
            }
          />
          <span>{choice[1]}</span>
        </label>
      )}
      <div class="buttons">
        <button class={`button ${isDangerous ? 'danger' : 'primary'}`} disabled={isSending || isBlocked}>
          {label}
        </button>
        {also}
        <button type="button" class="button" onClick={onDone}>
          Back
        </button>
      </div>
    </form>
  )
}

export const ReasonField = ({
  value,
  onInput,
}: {
  readonly value: string
  readonly onInput: (text: string) => void
}): View => (
  <label class="field">
    <span>Reason</span>
    <input ref={focusWhenShown} value={value} maxlength={300} onInput={takeText(onInput)} />
  </label>
)
