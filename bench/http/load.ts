/** A closed loop over keep-alive sockets: as many requests as connections are always under way, and each is timed. */
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'

export interface Measured {
  readonly count: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

export interface Load {
  readonly port: number
  readonly connections: number
  readonly milliseconds: number
  /** The bytes of the n-th request. */
  readonly request: (n: number) => string
}

/** @throws Error when an answer is no success */
export async function load({ port, connections, milliseconds, request }: Load): Promise<Measured> {
  const times: number[] = []
  const until = performance.now() + milliseconds
  let n = 0
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const open = (): void => {
        let answer = createAnswer()
        let sent = 0
        const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => next())
        const next = (): void => {
          answer = createAnswer()
          sent = performance.now()
          socket.write(request(n++))
        }
        socket.setEncoding('latin1')
        socket.on('data', (chunk: string) => {
          if (!answer.add(chunk)) return
          const now = performance.now()
          times.push(now - sent)
          if (!answer.head().startsWith('HTTP/1.1 20')) {
            socket.destroy()
            reject(new Error(answer.head().slice(0, 300)))
          } else if (now >= until) {
            socket.destroy()
            resolve()
          } else if (/^connection: close/im.test(answer.head().slice(0, 500))) {
            // After a thousand requests the server asks for a new connection.
            socket.destroy()
            open()
          } else next()
        })
        socket.on('error', reject)
      }
      open()
    })
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, one))
  const seconds = (performance.now() - began) / 1000
  times.sort((a, b) => a - b)
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
  return { count: times.length, perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99) }
}

const LAST = '\r\n0\r\n\r\n'

/** An answer as it arrives. Of a long body only the length is kept: the client must not be what is measured. */
function createAnswer() {
  let head = ''
  let missing: number | undefined
  /** The end of a body without a length: its last chunk is empty. */
  let tail: string | undefined
  return {
    head: () => head,
    /** @returns true once it is whole */
    add(chunk: string): boolean {
      if (missing !== undefined) return (missing -= chunk.length) <= 0
      if (tail !== undefined) return (tail = (tail + chunk).slice(-LAST.length)) === LAST
      head += chunk
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return false
      const length = /^content-length: (\d+)/im.exec(head.slice(0, end))
      if (!length) return (tail = head.slice(-LAST.length)) === LAST
      missing = end + 4 + Number(length[1]) - head.length
      return missing <= 0
    },
  }
}
