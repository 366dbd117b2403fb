/** Many readers of one stream, as one reader sees them: frames counted by their end, delays taken from their own times. */
import { connect, type Socket } from 'node:net'

/** One piece of model text, which both sides write alike. */
const PIECE = '"subject":"engine.step.delta"'
const TIME = /"ts":"([^"]+)"/

export interface Audience {
  /** Resolves when every reader has had so many pieces since the last time. */
  readonly heard: (count: number) => Promise<void>
  /** Milliseconds from a piece's own time to its reader, of all pieces so far. */
  readonly delays: readonly number[]
  readonly leave: () => void
}

/** @param requests what each reader sends to begin; resolves when all of them are live */
export async function gather(port: number, requests: readonly string[]): Promise<Audience> {
  const delays: number[] = []
  const counts = requests.map(() => 0)
  const sockets: Socket[] = []
  let waiting: { readonly count: number; readonly done: () => void } | undefined
  const look = (): void => {
    if (!waiting || counts.some((count) => count < waiting!.count)) return
    counts.fill(0)
    const { done } = waiting
    waiting = undefined
    done()
  }
  for (const [place, request] of requests.entries())
    await new Promise<void>((live, failed) => {
      let rest = ''
      const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(request))
      socket.setEncoding('latin1').setNoDelay(true)
      socket.on('data', (chunk: string) => {
        if (chunk.includes(': live')) live()
        const frames = (rest + chunk).split('\n\n')
        rest = frames.pop()!
        for (const frame of frames) {
          if (!frame.includes(PIECE)) continue
          counts[place]!++
          delays.push(Date.now() - Date.parse(TIME.exec(frame)![1]!))
        }
        look()
      })
      socket.on('error', failed)
      sockets.push(socket)
    })
  return {
    delays,
    heard: (count) =>
      new Promise((done) => {
        waiting = { count, done }
        look()
      }),
    leave: () => sockets.forEach((socket) => socket.destroy()),
  }
}
