/** A real mail server on loopback, of the package smtp-server. */
import { existsSync } from 'node:fs'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { closing } from '../running.ts'

const PACKAGE = join(import.meta.dirname, 'smtp/package.json')
export const hasMailServer = existsSync(join(import.meta.dirname, 'smtp/node_modules'))

interface SmtpSession {
  readonly envelope: {
    readonly mailFrom: { readonly address: string }
    readonly rcptTo: readonly { readonly address: string }[]
  }
}
type Done = (error?: Error & { responseCode?: number }) => void
/** What the test uses of the package, which has no types. */
type SmtpServerClass = new (options: object) => {
  readonly server: NetServer
  listen(port: number, host: string, done: () => void): void
  close(done: () => void): void
  on(event: 'error', handle: () => void): void
}

export interface ReceivedMail {
  readonly to: readonly string[]
  readonly from: string
  readonly headers: string
  /** Decoded. */
  readonly body: string
}

export async function startMailServer(options: object = {}, refuse?: () => Error | undefined) {
  const path = createRequire(PACKAGE).resolve('smtp-server')
  const { SMTPServer } = (await import(pathToFileURL(path).href)) as { SMTPServer: SmtpServerClass }
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', 'AUTH'],
    authOptional: true,
    async onData(stream: AsyncIterable<Buffer>, { envelope }: SmtpSession, done: Done) {
      let text = ''
      for await (const chunk of stream) text += chunk.toString('latin1')
      const error = refuse?.()
      if (error) return done(error)
      const [headers = '', ...rest] = text.split('\r\n\r\n')
      received.push({
        to: envelope.rcptTo.map(({ address }) => address),
        from: envelope.mailFrom.address,
        headers: headers.replaceAll(/\r\n[ \t]+/g, ' '),
        body: decode(rest.join('\r\n\r\n')),
      })
      done()
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing(() => new Promise<void>((resolve) => server.close(resolve)))
  return { port: (server.server.address() as AddressInfo).port, received }
}

/** Quoted-printable, as far as nodemailer writes it. */
const decode = (text: string): string =>
  Buffer.from(
    text
      .replaceAll(/=\r\n/g, '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')
