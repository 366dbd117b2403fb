/** What an import does not carry. Source: docs/design/command-line.md#imports */
export interface ImportLoss {
  /** `GET /pets/{id}`, or what else of the source it is about. */
  readonly at: string
  readonly what: string
  /** True where a call might be authorized, checked or directed otherwise than the source says. */
  readonly authority: boolean
}

/** Collects losses; what is lost several times at one place is listed once, with its number. */
export class LossList {
  readonly #found = new Map<string, ImportLoss & { count: number }>()

  add(at: string, what: string, authority = false): void {
    const key = `${at} ${what}`
    const known = this.#found.get(key)
    if (known) known.count++
    else this.#found.set(key, { at, what, authority, count: 1 })
  }

  /** Those that concern authority first. */
  all(): readonly ImportLoss[] {
    return [...this.#found.values()]
      .map(({ at, what, authority, count }) => ({
        at,
        what: count === 1 ? what : `${what} (${count} places)`,
        authority,
      }))
      .sort((a, b) => Number(b.authority) - Number(a.authority))
  }
}
