/**
 * Model text between processes: readers may follow a session in one process while another drives it.
 * Source: docs/design/several-processes.md#model-text
 */
import type { SessionId } from '../../base/ids.ts'
import type { LiveText } from '../../spec/event.ts'

/** Text of a session, and the number of the newest event when it was published: readers get it after that event. */
export interface PlacedText {
  readonly delta: LiveText
  readonly afterSeq: number
}

export interface TextExchange {
  /** Passes on text of sessions that this process drives, as it arrives. @returns a function that ends it */
  tap(listener: (text: PlacedText) => void): () => void
  /** Gives text of a session that another process drives to its readers here. */
  receive(text: PlacedText): void
  /** Sessions whose text is read here. */
  readSessions(): readonly SessionId[]
  /** Reports each session when its first reader comes and when its last one leaves. @returns a function that ends it */
  watchReaders(listener: (sessionId: SessionId, isRead: boolean) => void): () => void
}
