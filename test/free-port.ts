import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that systems give to connections, of which tests open many: none of them takes it before the test does. */
const [FIRST, LAST] = [12_000, 32_000]

/** A port at which nobody listens, for what must know it before it listens. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST)
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer()
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
