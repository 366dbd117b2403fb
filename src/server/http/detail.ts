/** The text of an error for the log: its stack if it has one. */
export const detailOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : (JSON.stringify(error) ?? 'undefined')
