/** Mail by a real mail server. Source: docs/design/notifications.md#mail */
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { NotifyConfig } from '../../../src/spec/config.ts'
import { closing, DESK, running } from '../running.ts'

const PACKAGE = join(import.meta.dirname, 'smtp/package.json')
const isInstalled = existsSync(join(import.meta.dirname, 'smtp/node_modules'))

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

interface ReceivedMail {
  readonly to: readonly string[]
  readonly from: string
  readonly headers: string
  /** Decoded. */
  readonly body: string
}

const refusal = (code: number, words: string) => Object.assign(new Error(words), { responseCode: code })

async function startMailServer(options: object = {}, refuse?: () => Error | undefined) {
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

const mailbox = (about: object = {}): NotifyConfig => ({
  channels: {
    mail: {
      email: {
        server: { fromEnv: 'SMTP' },
        from: 'svc <svc@acme.example>',
        to: ['ana@acme.example', 'bo@acme.example'],
      },
      timeout: '2s',
      ...about,
    },
  },
  routes: [{ events: ['task.created'], to: ['mail'] }],
})

const testOf = async (env: Record<string, string>, about: object = {}) => {
  const { operator } = await running({ config: { notify: mailbox(about) }, env })
  return (await operator('POST /notices/test', { channel: 'mail' })) as { state: string; error: string | null }
}

describe.skipIf(!isInstalled)('with npm ci --prefix test/server/notify/smtp --ignore-scripts', () => {
  test('a mail has the words of the card, and says on which channel a person was told', async () => {
    const { port, received } = await startMailServer()
    const house = await running({
      config: { notify: mailbox({ content: true }) },
      env: { SMTP: `smtp://127.0.0.1:${port}` },
    })
    const { runId } = (await house.start({ order: 'A-1042', amount: 180 })).body as { runId: string }
    await house.until(runId, 'engine.session.paused')
    let told: { channel: string; state: string; event: string }[] = []
    for (let look = 0; look < 100 && told[0]?.state !== 'delivered'; look++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      const { items } = (await house.operator('GET /tasks')) as { items: { people: { told?: typeof told } }[] }
      told = items[0]?.people.told ?? []
    }
    expect(told).toEqual([
      { channel: 'mail', event: 'task.created', state: 'delivered', at: expect.stringMatching(/Z$/) as unknown },
    ])
    const [mail] = received
    expect(mail).toMatchObject({ from: 'svc@acme.example', to: ['ana@acme.example', 'bo@acme.example'] })
    expect(mail!.headers).toMatch(/^Subject: =\?UTF-8\?Q\?=5Bacme=5D_Approval_needed/m)
    expect(mail!.headers).toMatch(/^Auto-Submitted: auto-generated/im)
    expect(mail!.body).toContain('with: amount: 180')
    expect(mail!.body).toContain(`asks: ${DESK}@1.0.0`)
    expect(mail!.body).toContain('text/html')
  })

  test('a password is sent, and in no error when it is wrong', async () => {
    const secret = 'pa55 word/&'
    const asked: string[] = []
    const { port } = await startMailServer({
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (
        { username, password }: { username: string; password: string },
        _: unknown,
        done: (error: Error | null, answer?: object) => void,
      ) => {
        asked.push(`${username} ${password}`)
        if (username === 'svc') return done(null, { user: 'svc' })
        done(new Error(`wrong password ${password}`))
      },
    })
    const at = (user: string): string => `smtp://${user}:${encodeURIComponent(secret)}@127.0.0.1:${port}`
    expect(await testOf({ SMTP: at('svc') })).toMatchObject({ state: 'delivered' })
    const { state, error } = await testOf({ SMTP: at('eve') })
    expect([state, asked]).toEqual(['waiting', [`svc ${secret}`, `eve ${secret}`]])
    expect(error).toMatch(/^Invalid login: 535/)
    expect(error).not.toContain('pa55')
  })

  test.each<[string, () => Error, RegExp]>([
    ['refuses it', () => refusal(550, 'no such mailbox'), /550 no such mailbox/],
    ['asks for patience', () => refusal(451, 'try again later'), /451 try again later/],
  ])('a mail server that %s', async (_, refuse, words) => {
    const { port, received } = await startMailServer({}, refuse)
    const { state, error } = await testOf({ SMTP: `smtp://127.0.0.1:${port}` })
    expect([state, received]).toEqual(['waiting', []])
    expect(error).toMatch(words)
  })

  test.each<[string, (port: number) => NetServer]>([
    ['says nothing', () => createServer(() => {})],
    ['hangs up', () => createServer((socket) => socket.destroy())],
    [
      'never stops its greeting',
      () =>
        createServer((socket) => {
          socket.on('error', () => {})
          flood(socket.write.bind(socket))
        }),
    ],
  ])('a mail server that %s', async (_, make) => {
    const server = make(0)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const sockets = new Set<{ destroy(): void }>()
    server.on('connection', (socket) => sockets.add(socket))
    closing(
      () => new Promise<void>((resolve) => (sockets.forEach((each) => each.destroy()), server.close(() => resolve()))),
    )
    const { port } = server.address() as AddressInfo
    expect(await testOf({ SMTP: `smtp://127.0.0.1:${port}` }, { timeout: '500ms' })).toMatchObject({
      state: 'waiting',
      error: expect.any(String) as unknown,
    })
  })
})

/** A line of a greeting that goes on, until the other side is gone. */
function flood(write: (text: string) => boolean): void {
  const timer = setInterval(() => void write('220-hello\r\n'.repeat(100)), 5)
  setTimeout(() => clearInterval(timer), 3000)
}

test.each<[string, Record<string, string>]>([
  ['is not set', {}],
  ['is no address of a mail server', { SMTP: 'https://mail.acme.example' }],
  ['cannot be read', { SMTP: 'smtp://[' }],
])('an address that %s is named by its variable', async (_, env) => {
  expect(await testOf(env)).toMatchObject({
    state: 'waiting',
    error: 'the environment variable SMTP of the server has no address such as smtps://user:password@host',
  })
})
