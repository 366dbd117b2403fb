/**
 * An answer arrived, but not in the form of its protocol. The place tells the people who run the model server what to mend; another
 * attempt would cost as much and read the same.
 */
import { shortenText } from '../../base/text/cut-text.ts'

/** What a collector throws; the provider adds its name. */
export class FormProblem extends Error {
  override readonly name = 'FormProblem'
  /** Where in the answer, for example `choices[0].delta.content`. */
  readonly place: string
  /** @param what continues the place: `is a number` */
  constructor(place: string, what: string) {
    super(`${place} ${what}`)
    this.place = place
  }
}

/** The stream ended within an event. */
export class CutStream extends Error {
  override readonly name = 'CutStream'
}

/**
 * A text that is shown in an error. Errors are cut to a readable length after secrets were masked in them: half a secret is not
 * recognized.
 */
export const quote = (text: string): string => JSON.stringify(shortenText(text, MOST_QUOTED))

/** More than an error shows. */
const MOST_QUOTED = 2000

/** What a value is, to continue a sentence: `is a number`. Texts are shown, since they say what the server meant. */
export const describeForm = (value: unknown): string => {
  if (value === undefined) return 'is absent'
  if (value === null) return 'is null'
  if (typeof value === 'string') return `is ${quote(value)}`
  if (Array.isArray(value)) return 'is a list'
  return typeof value === 'object' ? 'is an object' : `is a ${typeof value}`
}
