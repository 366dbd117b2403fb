/** Copies of a log of checkpoints, where whoever can write the database cannot. Source: docs/design/audit.md#checkpoints */
import { execFile } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import type { Instant } from '../../../base/clock.ts'
import { showAddress } from '../../../base/net/show-address.ts'
import { isFailure } from '../../../base/failure.ts'
import { shortenText } from '../../../base/text/cut-text.ts'
import { createS3Blobs, type S3Options } from '../../../blobs/s3.ts'
import type { LogPart } from './audit-log.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

/** For each copy: a receiver that is away is named after this, and the next checkpoint covers what it missed. */
const WITHIN_MS = 30_000

/** Where a note is posted. A user and a password of the address go as basic authentication. */
export interface PostAddress {
  /** Without user, password and parameters, which may be secrets. */
  readonly shown: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export function readPostAddress(text: string): PostAddress {
  const url = parseUrl(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw usageFailure('--post takes an address of the form https://host/path.')
  const { username, password } = url
  const basic = `${decodePart(username)}:${decodePart(password)}`
  url.username = ''
  url.password = ''
  return {
    shown: showAddress(url.href),
    url: url.href,
    headers: basic === ':' ? {} : { authorization: `Basic ${Buffer.from(basic).toString('base64')}` },
  }
}

/** A lone `%` stands for itself. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** @returns why the receiver did not take it */
export async function postNote({ url, headers: own }: PostAddress, note: string): Promise<string | undefined> {
  try {
    const headers = { 'content-type': 'text/plain; charset=utf-8', ...own }
    const signal = AbortSignal.timeout(WITHIN_MS)
    const response = await fetch(url, { method: 'POST', headers, body: note, signal, redirect: 'manual' })
    const { ok, status } = response
    // Only the status counts; an answer without end holds up nothing.
    await response.body?.cancel().catch(() => undefined)
    const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : ''
    return ok ? undefined : `HTTP ${status}${redirect}`
  } catch (error) {
    return describeFailure(error)
  }
}

export interface BucketAddress {
  readonly options: S3Options
  /** What the keys of its objects begin with. */
  readonly prefix: string
}

/** `s3://bucket/prefix?region=…&endpoint=…`; credentials are found where the AWS client looks for them. */
export function readBucketAddress(text: string): BucketAddress {
  const url = parseUrl(text)
  if (url?.protocol !== 's3:' || url.host === '')
    throw usageFailure('--s3 takes an address of the form s3://bucket/prefix?region=…')
  const endpoint = url.searchParams.get('endpoint')
  const prefix = url.pathname.replaceAll(/^\/+|\/+$/g, '')
  return {
    options: {
      bucket: url.host,
      region: url.searchParams.get('region') ?? process.env['AWS_REGION'] ?? 'us-east-1',
      forcePathStyle: endpoint !== null,
      ...(endpoint !== null && { endpoint }),
    },
    prefix: prefix === '' ? '' : `${prefix}/`,
  }
}

/** Objects that one run puts: the next one goes on. */
const MOST_PARTS = 1000
const DIGITS = 16

/**
 * Puts each part of the log that is not there yet, oldest first, as an object of its own, named by its size: those of a prefix, one
 * after the other, are the log.
 * @param lockedUntil absent where the bucket says how long its objects are kept
 * @returns why not all are there
 */
export async function putParts(
  { options, prefix }: BucketAddress,
  parts: readonly LogPart[],
  lockedUntil: Instant | undefined,
): Promise<string | undefined> {
  const blobs = createS3Blobs(options)
  const keyOf = (size: number): string => `${prefix}${String(size).padStart(DIGITS, '0')}.log`
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${WITHIN_MS / 1000} s`)), WITHIN_MS)
  })
  try {
    // Parts are put in order, so that those which are there come first.
    let [from, to] = [0, parts.length]
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      const part = parts[middle]
      if (part && (await Promise.race([blobs.head(keyOf(part.size)), late]))) from = middle + 1
      else to = middle
    }
    const last = parts[from - 1]
    // Another log of the same sizes would pass for this one, and this one would have no copy.
    if (last) {
      const bytes = await Promise.race([blobs.get(keyOf(last.size)), late])
      if (!bytes || Buffer.compare(bytes, Buffer.from(last.text)) !== 0)
        return `${keyOf(last.size)} is there, and of another log: name another prefix for this one`
    }
    for (const { size, text } of parts.slice(from, from + MOST_PARTS)) {
      await Promise.race([blobs.put(keyOf(size), Buffer.from(text), 'application/jsonl', lockedUntil), late])
      timer?.refresh()
    }
    const left = parts.length - from - MOST_PARTS
    return left > 0 ? `${left} of its parts are left for the next run` : undefined
  } catch (error) {
    return describeFailure(error)
  } finally {
    clearTimeout(timer)
    await blobs.close()
  }
}

/** Who commits is this program, whatever the person is called that runs it; nobody is there to enter a passphrase. */
const AS_SVC = ['-c', 'user.name=svc audit', '-c', 'user.email=audit@svc.invalid', '-c', 'commit.gpgsign=false']

/**
 * Commits the log in the repository in which it lies, and pushes it where its branch is pushed to.
 * @returns why it was not pushed
 */
export async function commitLog(path: string): Promise<string | undefined> {
  const run = async (...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, GIT_TERMINAL_PROMPT: '0' }
    const options = { env, timeout: WITHIN_MS, maxBuffer: 1024 * 1024 }
    return (await promisify(execFile)('git', ['-C', dirname(path), ...args], options)).stdout
  }
  const name = basename(path)
  try {
    // A log is often what `.gitignore` leaves out (`*.log`).
    await run('add', '--force', '--', name)
    if ((await run('diff', '--cached', '--name-only', '--', name)) !== '') {
      await run(...AS_SVC, 'commit', '--quiet', '--message', `Checkpoint of ${name}`, '--', name)
    }
    await run('push', '--quiet')
    return undefined
  } catch (error) {
    return describeFailure(error)
  }
}

/** What a program wrote to stderr, what a storage refused, or the cause of a request that failed: in one line. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isFailure(error)) return shortenText(error.message.replace(/\.$/, ''), 300)
  const { cause, message, name } = error
  const { stderr } = error as { stderr?: string }
  const own = cause instanceof Error ? cause.message : message
  const said = stderr !== undefined && stderr.trim() !== '' ? stderr : own
  const named = name === 'Error' || name === 'TypeError' || said === stderr ? said : `${name}: ${said}`
  const line = named.trim().replaceAll(/\s+/g, ' ').replace(/\.$/, '')
  // git repeats addresses, which may have a token.
  return shortenText(line.replaceAll(/(:\/\/)[^/@\s]*@/g, '$1'), 300)
}
