/**
 * The page of the console and its files: what the build wrote to `console/`, read once. Every path that a browser navigates
 * to gets the same page, which shows the screen of its address.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname } from 'node:path'
import { textBefore } from '../../base/text/text-parts.ts'

/** A build has the directory beside the bundle, or above its chunks; the sources find that of the last build. */
const PLACES = ['./console/', '../console/', '../../console/', '../../../dist/console/']

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

interface PageFile {
  readonly bytes: Buffer
  readonly type: string
  readonly etag: string
}

export interface ConsolePage {
  /** Answers a request for the page or one of its files. @returns false where the request is for the application */
  serve(request: IncomingMessage, response: ServerResponse): boolean
}

export function openConsolePage(): ConsolePage {
  const files = readFiles()
  const shell = files.get('index.html')
  const preloads = listPreloads(files)
  return {
    serve(request, response) {
      const { method = 'GET', url = '/', headers } = request
      if (method !== 'GET' && method !== 'HEAD') return false
      const path = textBefore(url, '?')
      const isFile = path.startsWith(FILES)
      if (!isFile && path !== '/' && !isNavigation(request)) return false
      const file = isFile ? files.get(path.slice(FILES.length)) : shell
      if (!file) {
        response.writeHead(404, { 'content-length': 0 }).end()
        return true
      }
      const { bytes, type, etag } = file
      // Names of chunks contain the digest of what is in them.
      const cache = isFile && HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache'
      const shared = { etag, 'cache-control': cache, vary: 'accept', ...(file === shell && { link: preloads }) }
      if (headers['if-none-match'] === etag) response.writeHead(304, shared).end()
      else
        response
          .writeHead(200, { ...shared, 'content-type': type, 'content-length': bytes.length })
          .end(method === 'HEAD' ? undefined : bytes)
      return true
    },
  }
}

const FILES = '/assets/'
const HASHED = /-[0-9A-Z]{8}\.(?:js|css)$/

/**
 * Below `/`, which is always the page, a browser asks for a page; a program, or the page itself, for data. Files of users are data,
 * however asked for; the reference of the API, links that decide and what a provider sends back are pages of their own.
 */
const isNavigation = ({ headers, url = '/' }: IncomingMessage): boolean =>
  (headers.accept ?? '').includes('text/html') &&
  !/^\/(?:files\/content|decide\/|sign-in\/|reference(?:$|\?))/.test(url)

/** Preloads the files that the page needs at once. Source: docs/design/console.md#speed */
function listPreloads(files: ReadonlyMap<string, PageFile>): string {
  const names = ['console.js']
  for (const name of names) {
    const text = files.get(name)?.bytes.toString() ?? ''
    for (const from of text.match(/(?<=(?:from|import)"\.\/)[^"]+(?=")/g) ?? [])
      if (!names.includes(from)) names.push(from)
  }
  const scripts = names.map((name) => `<${FILES}${name}>; rel=modulepreload`)
  return [`<${FILES}style.css>; rel=preload; as=style`, ...scripts].join(', ')
}

function readFiles(): ReadonlyMap<string, PageFile> {
  const directory = PLACES.map((place) => new URL(place, import.meta.url)).find((each) =>
    existsSync(new URL('console.js', each)),
  )
  if (!directory) throw new Error('The console is not part of this installation.')
  return new Map(
    readdirSync(directory).map((name) => {
      const bytes = readFileSync(new URL(name, directory))
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
      return [name, { bytes, type: TYPES[extname(name)] ?? 'application/octet-stream', etag }]
    }),
  )
}

/**
 * Headers of every response of the listener. The page runs its own script and nothing else.
 * Source: docs/design/console.md#what-the-page-may-do
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), publickey-credentials-get=(self)',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}
