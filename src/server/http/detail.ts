/** What the log keeps of an error: where it came from, as far as it knows. */
export const detailOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : (JSON.stringify(error) ?? 'undefined')
