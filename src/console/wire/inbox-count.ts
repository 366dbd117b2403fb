/** The tasks that wait, for the inbox and for its count beside every screen. */
import { createSignal } from './signal.ts'
import type { OperatorList } from '../../operations/schema.ts'
import type { InboxItem } from '../../operations/tasks.ts'
import { onHint } from './live.ts'
import { callOperator, findRefusal, type RequestError } from './request.ts'
import { aboutAnySession } from './resource.ts'

interface InboxState {
  readonly value?: OperatorList<InboxItem>
  readonly error?: RequestError
}

export const inboxState = createSignal<InboxState>({})

/** Those that whoever looks may answer. */
export const mineOf = (items: readonly InboxItem[]): readonly InboxItem[] =>
  items.filter(({ people }) => (people?.standing ?? 'may_answer') === 'may_answer')

let isReading = false
let isAsked = false

export async function readInbox(): Promise<void> {
  isAsked = true
  if (isReading) return
  isReading = true
  while (isAsked) {
    isAsked = false
    const error = await findRefusal(async () => (inboxState.value = { value: await callOperator('GET /tasks') }))
    if (error) inboxState.value = { ...inboxState.value, error }
  }
  isReading = false
}

export function watchInbox(): void {
  onHint((hint) => {
    if (aboutAnySession(hint)) void readInbox()
  })
  void readInbox()
}
