/** The message of the innermost cause of an error, at most eight levels down; the errors around it only say that something failed. */
export function innermostMessage(error: unknown): string {
  let innermost = error
  for (let depth = 0; depth < 8 && innermost instanceof Error; depth++) {
    if (!(innermost.cause instanceof Error) || innermost.cause.message === '') break
    innermost = innermost.cause
  }
  return innermost instanceof Error ? innermost.message : String(innermost)
}
