/** One failure that callers expect. */
export interface FailureRow {
  /** HTTP status; absent where the failure never crosses HTTP. */
  readonly status?: number
  /** Exit code of the command line (`svc help exit-codes`). */
  readonly exit: number
  message(about: never): string
  readonly fix?: string
}

export const EXIT = {
  bad: 1,
  usage: 2,
  denied: 4,
  absent: 5,
  conflict: 6,
  limit: 7,
  unavailable: 8,
  timeout: 9,
} as const
