// A hook over `backend.ts`, which has the key: start a refund, follow it, decide what it asks. It imports types and nothing else
// of svc, so the page carries none of it.
import { useCallback, useEffect, useState } from 'react'

export interface Refund {
  readonly status: string
  readonly output: unknown
  /** What a person is asked now. */
  readonly task?: { readonly title: string; readonly arguments: Readonly<Record<string, unknown>> }
}

export interface RefundState {
  readonly refund?: Refund
  /** One sentence for people. */
  readonly error?: string
}

export interface RefundActions {
  readonly start: (order: string, amount: number) => Promise<void>
  readonly decide: (approved: boolean) => Promise<void>
}

export function useRefund(): RefundState & RefundActions {
  const [state, setState] = useState<RefundState>({})
  /** What is followed, and how often it was decided: both begin to follow anew. */
  const [followed, setFollowed] = useState<{ readonly id: string; readonly decisions: number }>()

  useEffect(() => {
    if (!followed) return
    const leave = new AbortController()
    void follow(followed.id, leave.signal, setState)
    return () => leave.abort()
  }, [followed])

  const start = useCallback(async (order: string, amount: number) => {
    setState({})
    const { value, error } = await call<{ id: string }>('/refunds', { order, amount })
    if (error !== undefined) setState({ error })
    else setFollowed({ id: value!.id, decisions: 0 })
  }, [])

  const decide = useCallback(
    async (approved: boolean) => {
      if (!followed) return
      const { error } = await call(`/refunds/${followed.id}/decision`, { approved })
      if (error !== undefined) setState((before) => ({ ...before, error }))
      // Where somebody else was faster, this shows what came of it.
      setFollowed({ id: followed.id, decisions: followed.decisions + 1 })
    },
    [followed],
  )

  return { ...state, start, decide }
}

/** Asks again until the refund ends or waits for a person. The backend answers when there is something new, so nothing spins. */
async function follow(id: string, signal: AbortSignal, show: (state: RefundState) => void): Promise<void> {
  for (;;) {
    const { value: refund, error } = await call<Refund>(`/refunds/${id}`, undefined, signal)
    if (signal.aborted) return
    show({ ...(refund && { refund }), ...(error !== undefined && { error }) })
    if (!refund || refund.status !== 'Running') return
  }
}

interface Answered<T> {
  readonly value?: T
  readonly error?: string
}

/** A GET without a body, else a POST. Never throws. */
async function call<T>(path: string, body?: object, signal?: AbortSignal): Promise<Answered<T>> {
  try {
    const response = await fetch(path, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const value = (await response.json()) as T & { error?: string }
    return value.error === undefined ? { value } : { error: value.error }
  } catch {
    return { error: 'The server cannot be reached.' }
  }
}
