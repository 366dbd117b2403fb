import { replacement } from './diagnostic.ts'
import type { Rule } from './rule.ts'
import { nearest } from './suggest.ts'

/** The check that a text of a document is one of a few words. */
export const oneOf =
  (path: string, words: readonly string[]): NonNullable<Rule['check']> =>
  (document, report) => {
    for (const found of document.texts(path)) {
      if (words.includes(found.value)) continue
      const near = nearest(found.value, words)
      const list = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
      report(found, `${path.split('.').at(-1)} must be ${list}, but is "${found.value}".`, {
        ...(near !== undefined && { fix: replacement(found, near) }),
      })
    }
  }
