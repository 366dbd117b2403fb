/** All input and output of a command, so that a test can replace it. */
import type { Clock } from '../../base/clock.ts'
import type { OutputSink } from '../../terminal/output-sink.ts'

export type ProcessSignal = 'SIGINT' | 'SIGTERM'

export interface PromptChoice {
  readonly value: string
  readonly name: string
  /** A longer description; a terminal shows only that of the choice under the cursor. */
  readonly description?: string
}

/** How the keys of a question are read. */
export interface KeyReading {
  /**
   * Those of its keys that do something. Each counts only where it was pressed alone: after a silence, with nothing before
   * or behind it that could make it part of a paste, of a sequence of the terminal or of a held key.
   */
  readonly deciding?: readonly string[]
  /** Called with a deciding key that does not count. */
  readonly onRefused?: (key: string) => void
}

/** Questions to a person, drawn on stderr. Each throws `Interrupted` on Ctrl-C and the abort reason when `signal` fires. */
export interface Prompts {
  /** @param assumed the answer for Enter alone: no, unless nothing can be lost */
  confirm(question: string, signal?: AbortSignal, assumed?: boolean): Promise<boolean>
  /** Throws `QuestionLeft` on Escape. */
  text(question: string, signal?: AbortSignal): Promise<string>
  /** A line that is not shown while it is typed. */
  secret(question: string, signal?: AbortSignal): Promise<string>
  /**
   * One keypress out of `keys`, or any for `any`; others are ignored, and so is a letter in the other case. Keys that are no
   * character have names: `Enter`, `Escape`, `Backspace`, `Up`, `PageDown`. Without a question nothing is drawn.
   */
  key(question: string, keys: readonly string[] | 'any', signal?: AbortSignal, reading?: KeyReading): Promise<string>
  /** Keeps what is typed between two calls of `key`, without echo, until the returned function is called. */
  holdKeys?(): () => void
  /** Discards the keys typed so far, except Ctrl-C, and returns them. */
  dropTyped?(): Promise<readonly string[]>
  /** The time at which one of these keys was last typed, even if discarded: monotonic milliseconds. */
  lastTyped?(keys: readonly string[]): number | undefined
  /** One of the choices, with arrow keys; answers its value. */
  select(question: string, choices: readonly PromptChoice[], signal?: AbortSignal): Promise<string>
  /** Opens the person's editor on the text and returns the saved text. Without an editor, the text is edited on one line. */
  edit(text: string, signal?: AbortSignal): Promise<string>
}

export interface Io {
  readonly stdout: OutputSink
  readonly stderr: OutputSink
  /** `bytes` reads binary input; absent where a test gives text only. */
  readonly stdin: { readonly isTTY: boolean; text(): Promise<string>; bytes?(): Promise<Uint8Array> }
  /** Writes binary output to stdout. */
  readonly writeBytes?: (bytes: Uint8Array) => void
  /** Shows text in the person's pager where it is longer than the screen; absent where there is no terminal. */
  readonly page?: (text: string) => Promise<void>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly clock: Clock
  readonly fetch: typeof globalThis.fetch
  /** Shows requests that do not go through `fetch`; absent unless `--debug`. */
  readonly trace?: (send: (request: Request) => Promise<Response>) => (request: Request) => Promise<Response>
  readonly prompts: Prompts
  /** True in CI or under a coding agent, where no person can answer a prompt. */
  readonly unattended: boolean
  /** Calls `listener` for each signal until the returned function is called. */
  onSignal(listener: (signal: ProcessSignal) => void): () => void
  /** Calls `listener` when the size of the terminal changes, until the returned function is called. */
  onResize?(listener: () => void): () => void
  /** Ends the process at once, for a second Ctrl-C. */
  exit(code: number): void
}

/** A person pressed Ctrl-C, or the process was asked to end. */
export class Interrupted extends Error {
  override readonly name: string = 'Interrupted'
  readonly signal: ProcessSignal
  constructor(signal: ProcessSignal) {
    super(signal)
    this.signal = signal
  }
}

/** A person left a question with Escape. A command that needs the answer ends as with Ctrl-C. */
export class QuestionLeft extends Interrupted {
  override readonly name = 'QuestionLeft'
  constructor() {
    super('SIGINT')
  }
}

/** The answer to a question, or undefined where the person left it with Escape. */
export async function unlessLeft<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof QuestionLeft) return undefined
    throw error
  }
}
