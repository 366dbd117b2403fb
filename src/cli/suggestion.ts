/** A word that completion offers. */
export interface Suggestion {
  readonly value: string
  readonly description?: string
}
