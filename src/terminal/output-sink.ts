/** A stream of the process, or a recording of a test. */
export interface OutputSink {
  write(text: string): void
  readonly isTTY: boolean
  /** Current number of columns. */
  readonly width: number
  /** Current number of rows; absent if unknown. */
  readonly height?: number
}
