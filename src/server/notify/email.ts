/**
 * Notices as mail by SMTP: the card's words as text and HTML, one mail for many that wait. A link leads to the console, behind its
 * sign-in. Source: docs/design/notifications.md#mail
 */
import type { Transporter } from 'nodemailer'
import { fail } from '../../base/failure.ts'
import { isLocalhostName, isLoopback } from '../../base/net/loopback.ts'
import type { ChannelConfig } from '../../spec/config.ts'
import { failedTry, type ChannelParts, type NoticeChannel } from './channel.ts'
import { writeMail } from './mail-text.ts'

/** Notices of one mail. */
const MOST_IN_MAIL = 50

export function openEmailChannel(config: ChannelConfig, parts: ChannelParts): NoticeChannel {
  const { server, from, to } = config.email!
  return {
    mostAtOnce: MOST_IN_MAIL,
    async send(messages, signal) {
      const address = parts.env[server.fromEnv]
      if (!address || !/^smtps?:\/\//.test(address) || !URL.canParse(address))
        return failedTry(
          `the environment variable ${server.fromEnv} of the server has no address such as smtps://user:password@host`,
        )
      const transport = await openTransport(address, parts.timeoutMs)
      const stop = (): void => transport.close()
      signal.addEventListener('abort', stop, { once: true })
      try {
        const mail = writeMail(messages, parts.workspace, parts.clock.now())
        const sending = transport.sendMail({
          from,
          to: [...to],
          ...mail,
          // The same for every try of the same notices, so that a mail server may know a repetition.
          messageId: `<${messages[0]!.notice.id}.${messages.length}@svc.invalid>`,
          headers: { 'auto-submitted': 'auto-generated' },
          disableFileAccess: true,
          disableUrlAccess: true,
        })
        await Promise.race([sending, whenAborted(signal)])
        return { at: 'delivered' }
      } catch (error) {
        return failedTry(describeSmtpError(error))
      } finally {
        signal.removeEventListener('abort', stop)
        transport.close()
      }
    },
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

/** What a mail server answered, in one line. */
const describeSmtpError = (error: unknown): string => (error as Error).message.replaceAll(/\s+/g, ' ')
