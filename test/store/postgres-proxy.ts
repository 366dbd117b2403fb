/** Stands between a client and PostgreSQL, and loses connections at chosen moments. */
import { createConnection, createServer, type Socket } from 'node:net'

/** What becomes of a reply that the server has sent: lost, cut in the middle, cut with a reset, or late. */
export const REPLY_FAULTS = ['reply', 'half a reply', 'reset', 'delay'] as const
export type ReplyFault = (typeof REPLY_FAULTS)[number]

/** Milliseconds. */
const DELAY_MS = 400

export interface PostgresProxy {
  /** Of a database, through the proxy. */
  url(database: string): string
  /**
   * What becomes of the next statement with this text: its reply is disturbed after the server has made it; the connection breaks when
   * the server has it, or before it gets it.
   */
  loseNext(text: string, what: ReplyFault | 'connection' | 'statement'): void
  /** From now on the reply of every so manieth statement with this text is disturbed, in each way in turn. */
  disturbEvery(count: number, text: string): void
  /** Breaks every connection that sends this text. */
  refuse(text: string): void
  /**
   * While true, accepts connections and everything sent on them, and answers nothing. The connections on which something was
   * swallowed stay as they are afterwards.
   */
  swallow(isSwallowed: boolean): void
  /** Connections on which something, with this text, was swallowed the last time. */
  swallowed(text?: string): number
  /** Replies that were disturbed. */
  disturbed(): number
  close(): Promise<void>
}

/** @param socket path of the server's Unix socket */
export async function openPostgresProxy(socket: string): Promise<PostgresProxy> {
  let next: { readonly text: string; readonly what: ReplyFault | 'connection' | 'statement' } | undefined
  let every: { readonly count: number; readonly text: string; seen: number } | undefined
  let refused: string | undefined
  let disturbed = 0
  let swallows = false
  /** What was swallowed, of each connection. */
  let dead: { text: string }[] = []
  const clients = new Set<Socket>()
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    client.on('error', () => {})
    const server = createConnection(socket)
    server.on('error', () => client.destroy())
    let fault: ReplyFault | undefined
    let own: { text: string } | undefined
    const swallowed = (data: Uint8Array | string = ''): boolean => {
      if (swallows && !own) dead.push((own = { text: '' }))
      if (own) own.text += data.toString()
      return own !== undefined
    }
    client.on('data', (data) => {
      if (swallowed(data)) return
      if (refused !== undefined && data.includes(refused)) return void client.destroy()
      if (next && data.includes(next.text)) {
        const { what } = next
        next = undefined
        if (what === 'statement') return void client.destroy()
        server.write(data)
        if (what === 'connection') client.destroy()
        else fault = what
        return
      }
      if (every && data.includes(every.text) && ++every.seen % every.count === 0)
        fault = REPLY_FAULTS[disturbed % REPLY_FAULTS.length]
      server.write(data)
    })
    server.on('data', (data) => {
      if (swallowed()) return
      if (fault === undefined) return void client.write(data)
      disturbed++
      disturb(fault, data)
      fault = undefined
    })
    const disturb = (kind: ReplyFault, data: Buffer): void => {
      if (kind === 'reply') client.destroy()
      else if (kind === 'reset') client.resetAndDestroy()
      else if (kind === 'half a reply') client.end(data.subarray(0, data.length >> 1))
      else {
        server.pause()
        setTimeout(() => {
          client.write(data)
          server.resume()
        }, DELAY_MS)
      }
    }
    server.on('close', () => {
      if (!swallowed()) client.destroy()
    })
    // The server notices a client that left only when it next writes: as with a network that breaks.
    client.on('end', () => server.end())
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as { port: number }
  return {
    url: (database) => `postgres://svc@127.0.0.1:${port}/${database}`,
    disturbEvery: (count, text) => void (every = { count, text, seen: 0 }),
    refuse: (text) => void (refused = text),
    swallow: (isSwallowed) => {
      swallows = isSwallowed
      if (swallows) dead = []
    },
    swallowed: (text = '') => dead.filter((each) => each.text.includes(text)).length,
    disturbed: () => disturbed,
    loseNext: (text, what) => void (next = { text, what }),
    close: () =>
      new Promise((resolve) => {
        for (const each of clients) each.destroy()
        listener.close(() => resolve())
      }),
  }
}
