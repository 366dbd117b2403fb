/**
 * The one stream of this tab: hints that something changed. It is closed while nobody looks at the tab, since a browser
 * opens few connections to one server, and everything is read again when it opens.
 */
import { createSignal } from './signal.ts'
import type { LiveHint } from '../../operations/server.ts'
import { findRefusal, sendOperatorRequest, signedIn } from './request.ts'

export type Connection = 'opening' | 'live' | 'lost'
export const connection = createSignal<Connection>('opening')

type Listener = (hint: LiveHint) => void
const listeners = new Set<Listener>()

/** @returns ends it */
export function onHint(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** For what this tab did itself, which it does not wait to be told. */
export const hintAll = (): void => {
  for (const listener of listeners) listener({ sessions: 'any', workspace: true })
}

let source: EventSource | undefined
let retry: ReturnType<typeof setTimeout> | undefined

export function openLive(): void {
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()))
  // A stream may outlive a network that was gone, without what was sent meanwhile.
  addEventListener('online', () => {
    close()
    open()
  })
  open()
}

function open(): void {
  clearTimeout(retry)
  if (source !== undefined || signedIn.value === false) return
  const opened = new EventSource('/live')
  source = opened
  let isFirst = true
  opened.addEventListener('message', ({ data }) => {
    connection.value = 'live'
    // What happened before this stream is not told by it.
    const hint: LiveHint = isFirst ? { sessions: 'any', workspace: true } : (JSON.parse(data as string) as LiveHint)
    isFirst = false
    for (const listener of listeners) listener(hint)
  })
  opened.addEventListener('error', () => {
    connection.value = 'lost'
    close()
    // A stream does not say why it ended; a request does.
    const asked = findRefusal(() => sendOperatorRequest('GET', '/status'))
    retry = setTimeout(() => void asked.then(open), RETRY_MS)
  })
}

const RETRY_MS = 1000

function close(): void {
  source?.close()
  source = undefined
}
