/** A bucket of this process, in memory: the part of S3 that a server needs, for servers that must name one. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What it refuses: a method of HTTP, answered 403 as by a storage whose user lacks the right. */
export const refusedByBucket = new Set<string>()

let opened: Promise<string> | undefined

/** `s3://files?endpoint=…`. The first call opens it, and it ends with the process. */
export const bucketUrl = (): Promise<string> => (opened ??= openBucket())

function openBucket(): Promise<string> {
  process.env['AWS_ACCESS_KEY_ID'] ??= 'key'
  process.env['AWS_SECRET_ACCESS_KEY'] ??= 'secret'
  const objects = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const key = new URL(request.url ?? '/', 'http://bucket.test').pathname
    const method = request.method ?? 'GET'
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const answer = (status: number, code?: string, body?: Buffer): void => {
        response.writeHead(status, { 'content-type': code === undefined ? 'text/plain' : 'application/xml' })
        response.end(code === undefined ? body : `<Error><Code>${code}</Code><Message>${code} here.</Message></Error>`)
      }
      if (refusedByBucket.has(method)) return answer(403, 'AccessDenied')
      if (method === 'PUT') objects.set(key, Buffer.concat(chunks))
      if (method === 'DELETE') objects.delete(key)
      const body = objects.get(key)
      if (method === 'GET' && !body) return answer(404, 'NoSuchKey')
      return answer(method === 'DELETE' ? 204 : 200, undefined, method === 'GET' ? body : undefined)
    })
  })
  server.unref()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve(`s3://files?endpoint=http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    )
  })
}
