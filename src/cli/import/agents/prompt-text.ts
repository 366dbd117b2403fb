/** Instructions of a source as the text of a prompt. */
import { cutText } from '../../../base/cut-text.ts'
import { UNSEEN_CHARACTER } from '../../../base/unseen-character.ts'
import { maskCredentials, maskPrivateKeys } from '../../../documents/text/credentials.ts'
import type { LossList } from '../losses.ts'

const MAX_CHARACTERS = 200_000
const UNSEEN = new RegExp(UNSEEN_CHARACTER, 'gu')

/** What nobody sees, and what looks like a credential, is left out and reported. Empty where nothing is left. */
export function cleanPrompt(text: string, at: string, losses: LossList): string {
  const cut = cutText(text, MAX_CHARACTERS).text
  if (cut.length < text.length) losses.add(at, `its instructions are cut to ${MAX_CHARACTERS} characters`)
  // eslint-disable-next-line no-control-regex
  const seen = cut.replace(UNSEEN, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
  if (seen.length < cut.length) losses.add(at, 'characters that nobody sees are left out of its instructions')
  const lines = seen.split('\n')
  const masked = maskPrivateKeys(seen)
    .split('\n')
    .map((line) => maskCredentials(line))
  if (masked.some((line, index) => line !== lines[index]))
    losses.add(at, 'what looks like a credential in its instructions is masked', true)
  const whole = masked
    .map((line) => line.trimEnd())
    .join('\n')
    .trim()
  return whole === '' ? '' : `${whole}\n`
}
