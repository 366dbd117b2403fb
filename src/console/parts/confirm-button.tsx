/** A button that asks once more before it acts. */
import { useState } from 'preact/hooks'
import { hintAll } from '../wire/live.ts'
import { findRefusal } from '../wire/request.ts'
import type { Child, View } from './view.ts'
import { SecondButton } from './second-button.tsx'

export function ConfirmButton({
  label,
  question,
  act,
}: {
  readonly label: Child
  readonly question: string
  readonly act: () => Promise<unknown>
}): View {
  const [state, setState] = useState<'idle' | 'asked' | 'acting'>('idle')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const go = async (): Promise<void> => {
    setState('acting')
    const refusal = await findRefusal(act)
    if (refusal) setProblem(refusal.message)
    else hintAll()
    setState('idle')
  }
  if (problem !== undefined)
    return (
      <span class="why-not" role="alert">
        {problem}
      </span>
    )
  if (state === 'idle')
    return (
      <button type="button" class="button small" onClick={() => setState('asked')}>
        {label}
      </button>
    )
  return (
    <span class="buttons">
      <SecondButton kind="small danger" isDisabled={state === 'acting'} onPress={() => void go()}>
        {question}
      </SecondButton>
      <button type="button" class="button small quiet" onClick={() => setState('idle')}>
        Back
      </button>
    </span>
  )
}
