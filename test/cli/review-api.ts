/** The interfaces of GitHub and GitLab, as far as a review's comment needs them, and the step that posts it. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { removeDirectory } from '../remove-directory.ts'

export interface SentToReview {
  readonly method: string
  readonly path: string
  readonly token: string | undefined
  readonly body: { readonly body?: string } | undefined
}

/** A server that answers GET with these lists, and everything else with what it was sent. */
export async function serveReviewApi(lists: Readonly<Record<string, readonly object[]>>) {
  const sent: SentToReview[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = ''
    for await (const part of request) text += String(part)
    const { method = '', url = '' } = request
    const path = url.split('?', 1)[0]!
    const { authorization, 'private-token': token } = request.headers
    const body = text === '' ? undefined : (JSON.parse(text) as { body: string })
    if (method !== 'GET') sent.push({ method, path, token: authorization ?? String(token), body })
    response.setHeader('connection', 'close').end(JSON.stringify(method === 'GET' ? (lists[path] ?? []) : { id: 1 }))
  }
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { sent, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Runs the step that posts. @param comment what the other job left; null for nothing */
export async function runPosting(
  script: string,
  env: Readonly<Record<string, string>>,
  comment: string | null,
): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-review-'))
  onTestFinished(() => removeDirectory(cwd))
  if (comment !== null) {
    mkdirSync(join(cwd, 'review'))
    writeFileSync(join(cwd, 'review/comment.md'), comment)
  }
  await promisify(execFile)('bash', ['-ec', script], { cwd, env: { PATH: process.env['PATH'], ...env } })
}
