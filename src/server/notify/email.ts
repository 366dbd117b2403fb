/**
 * Notices as mail by SMTP: the card's words as text and HTML, one mail for many that wait. A link leads to the console, behind its
 * sign-in; where the channel allows it, a recipient with a credential gets a mail of their own, with links that decide.
 * Source: docs/design/notifications.md#mail
 */
import type { Transporter } from 'nodemailer'
import { fail } from '../../base/failure.ts'
import { isLocalhostName, isLoopback } from '../../base/net/loopback.ts'
import type { ChannelConfig } from '../../spec/project/config.ts'
import { failedTry, type ChannelParts, type NoticeChannel, type TryOutcome } from './channel.ts'
import { createMailInvitations, type MailGroup } from './mail-invitations.ts'
import { describeSmtpError, groupUntold, readRefusals } from './mail-recipients.ts'
import { writeMail, type MailedNotice } from './mail-text.ts'
import { readTold, toToldReceipt } from './recipients.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

/** Notices of one mail. */
const MOST_IN_MAIL = 50

export function openEmailChannel(config: ChannelConfig, parts: ChannelParts): NoticeChannel {
  const email = config.email!
  const { server, from } = email
  const to = [...new Set(email.to)]
  const invitations = createMailInvitations(email, parts)

  return {
    mostAtOnce: MOST_IN_MAIL,
    async send(messages, signal) {
      const address = parts.env[server.fromEnv]
      if (!address || !/^smtps?:\/\//.test(address) || parseUrl(address) === undefined)
        return failedTry(
          `the environment variable ${server.fromEnv} of the server has no address such as smtps://user:password@host`,
        )
      const transport = await openTransport(address, parts.timeoutMs)
      const stop = (): void => transport.close()
      signal.addEventListener('abort', stop, { once: true })
      const notices = messages.map((message) => ({ message, told: new Set(readTold(message.notice)) }))
      const refusals = new Set<string>()
      const outcomes = (): readonly TryOutcome[] =>
        notices.map(({ told }): TryOutcome => {
          if (to.every((one) => told.has(one))) return { at: 'delivered', receipt: toToldReceipt(told) }
          return { ...failedTry([...refusals].join('; ')), ...(told.size > 0 && { receipt: toToldReceipt(told) }) }
        })
      try {
        for (const group of await invitations.groupRecipients(messages, to))
          for (const { people, missing } of groupUntold(group.to, notices)) {
            const mailed = await invitations.invite(
              missing.map(({ message }) => message),
              group,
            )
            const sending = sendMail(transport, { ...group, to: people }, mailed)
            const refused = await Promise.race([readRefusals(sending, people), whenAborted(signal)])
            for (const why of refused.values()) refusals.add(why)
            for (const { told } of missing) for (const one of people) if (!refused.has(one)) told.add(one)
          }
        return outcomes()
      } catch (error) {
        refusals.add(describeSmtpError(error))
        return outcomes()
      } finally {
        signal.removeEventListener('abort', stop)
        transport.close()
      }
    },
  }

  function sendMail(transport: Transporter, group: MailGroup, mailed: readonly MailedNotice[]) {
    // The same for every try of the same notices, so that a mail server may know a repetition.
    const id = [
      mailed[0]?.notice.id,
      mailed.length,
      ...(group.invited === undefined ? [] : [to.indexOf(group.invited.person)]),
    ]
    return transport.sendMail({
      from,
      to: [...group.to],
      ...writeMail(mailed, parts.workspace, parts.clock.now()),
      messageId: `<${id.join('.')}@svc.invalid>`,
      headers: { 'auto-submitted': 'auto-generated' },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }
}

/** @throws Failure `mail_client_missing` */
async function openTransport(address: string, timeoutMs: number): Promise<Transporter> {
  const nodemailer = await import('nodemailer').catch((error: unknown) => {
    throw fail('mail_client_missing', undefined, { cause: error })
  })
  const isHere = isLocalAddress(new URL(address).hostname)
  return nodemailer.default.createTransport({
    url: address,
    // Beyond this machine neither a password nor a mail leaves in the clear, whatever the server offers.
    requireTLS: !isHere,
    ignoreTLS: isHere,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  })
}

const isLocalAddress = (host: string): boolean => {
  const name = host.replace(/^\[|\]$/g, '')
  return isLoopback(name) || isLocalhostName(name)
}

const whenAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(signal.reason as Error)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
