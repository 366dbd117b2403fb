/** What the log records of an error: its stack if it has one. */
export const detailOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : (JSON.stringify(error) ?? 'undefined')
