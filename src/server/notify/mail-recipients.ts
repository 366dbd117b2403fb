/**
 * Who gets one mail, and who of them did not get it: a mail server takes a mail for the recipients that it knows, and refuses the others.
 * Source: docs/design/notifications.md#mail
 */

interface MailedPeople<Notice> {
  readonly people: readonly string[]
  readonly missing: readonly Notice[]
}

/** Who was told of a notice by an earlier try is not told again: one mail for those who miss the same notices. */
export function groupUntold<Notice extends { readonly told: ReadonlySet<string> }>(
  people: readonly string[],
  notices: readonly Notice[],
): readonly MailedPeople<Notice>[] {
  const groups = new Map<string, { readonly people: string[]; readonly missing: readonly Notice[] }>()
  for (const one of people) {
    const missing = notices.filter(({ told }) => !told.has(one))
    if (missing.length === 0) continue
    const key = missing.map((each) => notices.indexOf(each)).join(' ')
    const group = groups.get(key) ?? { people: [], missing }
    groups.set(key, group)
    group.people.push(one)
  }
  return [...groups.values()]
}

/** What the mail client says of a mail that left. */
interface SentMail {
  /** As they were sent, in the order in which they were given. */
  readonly envelope?: { readonly to?: unknown } | undefined
  readonly rejected?: readonly string[] | undefined
  readonly rejectedErrors?: readonly MailError[] | undefined
}

type MailError = Error & { readonly code?: string | undefined; readonly recipient?: string | undefined }

/** What a server says of one mail or of its recipients, and of no other mail. */
const OF_ONE_MAIL: ReadonlySet<unknown> = new Set(['EENVELOPE', 'EMESSAGE'])

/**
 * Which of these people did not get a mail, and why: an address that is gone stops no other one.
 * @throws what is wrong with the server, which holds for the next mail, too
 */
export async function readRefusals(
  sending: Promise<SentMail>,
  people: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  try {
    const { envelope, rejected = [], rejectedErrors = [] } = await sending
    if (rejected.length === 0) return new Map()
    const sent = Array.isArray(envelope?.to) && envelope.to.length === people.length ? envelope.to : undefined
    const whyOf = (one: unknown): string => {
      const error = rejectedErrors.find(({ recipient }) => recipient === one)
      return `${String(one)}: ${error ? describeSmtpError(error) : 'the mail server refused it'}`
    }
    // Where nobody can say who was refused, a second mail is better than none.
    if (!sent) return new Map(people.map((one, at) => [one, whyOf(rejected[at] ?? rejected[0])]))
    return new Map(
      people.flatMap((one, at) => (rejected.includes(sent[at] as string) ? [[one, whyOf(sent[at])] as const] : [])),
    )
  } catch (error) {
    if (!OF_ONE_MAIL.has((error as MailError).code)) throw error
    return new Map(people.map((one) => [one, describeSmtpError(error)]))
  }
}

/** What a mail server answered, in one line. */
export const describeSmtpError = (error: unknown): string => (error as Error).message.replaceAll(/\s+/g, ' ')
