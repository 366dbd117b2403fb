/**
 * The world outside: a tool server that counts every call that arrives. Its connections open slowly, so that a process may lose
 * its session while a call waits to leave.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'

export interface LedgerEntry {
  readonly tool: string
  /** The idempotency key: the same for each attempt of a call. */
  readonly key: string
}

export interface Ledger {
  readonly url: string
  /** What its callers must trust: the path of a certificate. */
  readonly certificate: string
  /** Every call, in the order of its arrival. */
  readonly entries: readonly LedgerEntry[]
  arrivals(key: string): number
  close(): Promise<void>
}

export interface LedgerTimes {
  /** Milliseconds until a connection is open, and until a call is answered. */
  readonly connectMs: () => number
  readonly answerMs: () => number
}

/** @param directory for its certificate, which is made with openssl */
export async function openLedger(directory: string, { connectMs, answerMs }: LedgerTimes): Promise<Ledger> {
  const [keyFile, certificate] = [join(directory, 'ledger.key'), join(directory, 'ledger.crt')]
  const about = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ledger'
  const name = ['-addext', 'subjectAltName=IP:127.0.0.1']
  const out = ['-keyout', keyFile, '-out', certificate]
  execFileSync('openssl', ['req', ...about.split(' '), ...name, ...out], { stdio: 'ignore' })
  const entries: LedgerEntry[] = []
  const counts = new Map<string, number>()
  const answers = createHttpsServer(
    { key: readFileSync(keyFile), cert: readFileSync(certificate) },
    (request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        const { tool, idempotency_key: key } = JSON.parse(text) as { tool: string; idempotency_key: string }
        entries.push({ tool, key })
        counts.set(key, (counts.get(key) ?? 0) + 1)
        setTimeout(() => response.end(JSON.stringify({ done: key })), answerMs())
      })
    },
  )
  answers.on('tlsClientError', () => {})
  const sockets = new Set<Socket>()
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    setTimeout(() => void answers.emit('connection', socket), connectMs())
  })
  await new Promise<void>((ready) => listener.listen(0, '127.0.0.1', ready))
  return {
    url: `https://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    certificate,
    entries,
    arrivals: (key) => counts.get(key) ?? 0,
    close: () =>
      new Promise((closed) => {
        for (const socket of sockets) socket.destroy()
        listener.close(() => closed())
      }),
  }
}
