/**
 * An empty route, of `node:http` alone and of h3: what every request costs before it means anything.
 * Argument: `node` or `h3`.
 */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'

const BODY = JSON.stringify({ status: 'ready' })
const HEADERS = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(BODY)) }
const handler: RequestListener =
  process.argv[2] === 'h3'
    ? toNodeHandler(new H3({ silent: true }).get('/empty', () => new Response(BODY, { headers: HEADERS })))
    : (_request, response) => void response.writeHead(200, HEADERS).end(BODY)
const server = createServer(handler)
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
process.on('disconnect', () => process.exit(0))
