/**
 * The text whose SHA-256 a passkey signs. Browser and server write it by themselves, each from what it has: the page from what it
 * draws, the server from the task. Source: docs/design/approvals.md#passkeys
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'

/** What an answer says beyond `approved`. */
interface ApprovingAnswer {
  readonly textValue?: JsonValue
  readonly metadata?: JsonValue
}

/**
 * For what is shown and answered: the card, an output as its approver wrote it, and the arguments as they edited them.
 * @param view `sha256:` of the card as it is drawn (`describeTaskView`)
 */
export function approvalChallengeText(
  view: string,
  { textValue, metadata = null }: ApprovingAnswer,
  nonce: string,
): string {
  const edited = isJsonObject(metadata) ? metadata['svc/arguments'] : undefined
  return write('approval', { view, textValue: textValue ?? null, arguments: edited ?? null, nonce })
}

export const enrolChallengeText = (operator: string, nonce: string): string => write('enrol', { operator, nonce })

/** By a passkey that the person has, for the change of a list: `subject` is the new or removed one. */
export const confirmChallengeText = (purpose: 'enrol' | 'remove', subject: string, nonce: string): string =>
  write(`confirm-${purpose}`, { subject, nonce })

const write = (purpose: string, content: JsonObject): string => `svc.${purpose}.v1\0${canonicalJson(content)}`
