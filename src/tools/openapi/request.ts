/** The request of a call to an operation of an OpenAPI document. Source: docs/design/models-and-tools.md#operations-of-an-openapi-document */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type {
  OperationBody,
  OperationParameter,
  RecordedOperation,
  SecurityScheme,
} from '../../spec/project/operation-record.ts'
import {
  escapeReservedPart,
  escapeUriPart,
  keepPart,
  StyleError,
  writeFields,
  writePathPart,
  writeSimple,
} from './style.ts'
import { ownMember } from '../../base/json/own-member.ts'

export interface OperationRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A scheme, with the secret that meets it. */
export interface SchemeSecret {
  readonly scheme: SecurityScheme
  readonly value: string
}

/** The call cannot be written as a request, so that nothing was sent. The message names the argument. */
export class OperationRequestError extends Error {
  override readonly name = 'OperationRequestError'
}

/** Headers that the connection or svc itself sets: an argument must not be one. */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set(
  `accept accept-encoding authorization connection content-length content-type cookie expect forwarded host idempotency-key
  keep-alive proxy-authorization te trailer transfer-encoding upgrade via`.split(/\s+/),
)

/** @throws OperationRequestError */
export function buildOperationRequest(
  base: string,
  operation: RecordedOperation,
  given: JsonValue,
  secrets: readonly SchemeSecret[],
): OperationRequest {
  const args = readArguments(operation, given)
  const query: string[] = []
  const cookies: string[] = []
  const headers: Record<string, string> = {}
  const inPath = new Map<string, string>()
  for (const parameter of operation.parameters) {
    const value = Object.hasOwn(args, parameter.argument) ? args[parameter.argument] : undefined
    if (value === undefined || (value === null && parameter.in !== 'path')) continue
    const write = (): void => {
      if (parameter.in === 'path') inPath.set(parameter.name, writePathPart(parameter.name, value, parameter))
      else if (parameter.in === 'query') query.push(...queryFields(parameter, value))
      else if (parameter.in === 'cookie')
        cookies.push(...writeFields(parameter.name, value, parameter).map((pair) => pair.join('=')))
      else setHeader(headers, parameter.name, headerText(parameter, value))
    }
    attemptWriting(parameter.argument, write)
  }
  const path = fillPath(operation.path, inPath)
  const body = operation.body && writeBody(operation.body, args)
  for (const { scheme, value } of secrets) addSecret(scheme, value, { query, cookies, headers })
  if (cookies.length > 0) headers['cookie'] = cookies.join('; ')
  return {
    method: operation.method,
    url: joinUrl(base, path, query),
    headers: { ...headers, ...(body && { 'content-type': body.mediaType }) },
    ...(body && { body: body.text }),
  }
}

/** An argument that the request has no place for is refused: left out, the call would do something else than was decided. */
function readArguments({ parameters, body }: RecordedOperation, given: JsonValue): JsonObject {
  const args = given === null ? {} : given
  if (!isJsonObject(args)) throw new OperationRequestError('Its arguments are not an object.')
  const known = new Set([...parameters.map(({ argument }) => argument), ...(body ? [body.argument] : [])])
  const unknown = Object.keys(args).find((name) => !known.has(name))
  if (unknown !== undefined)
    throw new OperationRequestError(`The operation has no place for the argument "${unknown}".`)
  return args
}

function attemptWriting(argument: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (error instanceof StyleError)
      throw new OperationRequestError(`The argument "${argument}" cannot be sent: ${error.message}.`, { cause: error })
    throw error
  }
}

function queryFields(parameter: OperationParameter, value: JsonValue): string[] {
  const escape = parameter.allowReserved === true ? escapeReservedPart : escapeUriPart
  return writeFields(parameter.name, value, parameter, escape).map((pair) => pair.join('='))
}

const headerText = ({ style, explode }: OperationParameter, value: JsonValue): string =>
  style === 'json' ? JSON.stringify(value) : writeSimple(value, explode, keepPart)

function setHeader(headers: Record<string, string>, name: string, text: string): void {
  const key = name.toLowerCase()
  if (RESERVED_HEADERS.has(key)) throw new StyleError(`no argument sets the header ${name}`)
  // A line break would begin another header.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) throw new StyleError(`a header has no form for its characters`)
  headers[key] = text
}

/**
 * Fills the template. A value that is empty, or `.` and `..` in any spelling, would lead to another path: `DELETE /orders/{id}` with an
 * empty id deletes all orders. So would `../users` where a server or a proxy before it decodes the slash first.
 */
function fillPath(template: string, values: ReadonlyMap<string, string>): string {
  const path = template.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const text = values.get(name)
    if (text === undefined || /^[.;]?$/.test(text))
      throw new OperationRequestError(`The path needs a value for {${name}}.`)
    return text
  })
  if (path.split(/\/|%2f|\\|%5c/i).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw new OperationRequestError(`A segment of the path ${path} would lead elsewhere.`)
  return path
}

function writeBody(
  { argument, mediaType, fields = {} }: OperationBody,
  args: JsonObject,
): { readonly mediaType: string; readonly text: string } | undefined {
  const value = ownMember(args, argument)
  if (value === undefined) return undefined
  if (mediaType !== FORM) return { mediaType, text: JSON.stringify(value) }
  if (!isJsonObject(value)) throw new OperationRequestError(`The argument "${argument}" is no object, as a form needs.`)
  const pairs: string[] = []
  for (const [name, each] of Object.entries(value)) {
    if (each === null) continue
    const usual = { style: isNested(each) ? ('json' as const) : ('form' as const), explode: true }
    const style = ownMember(fields, name) ?? usual
    attemptWriting(`${argument}.${name}`, () =>
      pairs.push(...writeFields(name, each, style).map((pair) => pair.join('=').replaceAll('%20', '+'))),
    )
  }
  return { mediaType, text: pairs.join('&') }
}

const FORM = 'application/x-www-form-urlencoded'

const isNested = (value: JsonValue): boolean =>
  isJsonObject(value) || (Array.isArray(value) && value.some((each) => typeof each === 'object' && each !== null))

function addSecret(
  scheme: SecurityScheme,
  value: string,
  { query, cookies, headers }: { query: string[]; cookies: string[]; headers: Record<string, string> },
): void {
  if (!/^[\x20-\x7e]*$/.test(value))
    throw new OperationRequestError('A secret has characters that a request cannot carry.')
  if (scheme.type !== 'apiKey')
    headers['authorization'] =
      scheme.type === 'basic' ? `Basic ${Buffer.from(value).toString('base64')}` : `Bearer ${value}`
  else if (scheme.in === 'header') headers[scheme.name.toLowerCase()] = value
  else if (scheme.in === 'query') query.push(`${escapeUriPart(scheme.name)}=${escapeUriPart(value)}`)
  else cookies.push(`${scheme.name}=${escapeCookieText(value)}`)
}

/** Escapes only what no cookie can hold: few servers decode their cookies, and a key is given as it is sent. Source: RFC 6265, 4.1.1 */
const escapeCookieText = (text: string): string => text.replace(/[ ",;\\]/g, escapeUriPart)

/** The path stands below that of the address, as OpenAPI appends it to the address of a server. */
function joinUrl(base: string, path: string, query: readonly string[]): string {
  const url = new URL(base)
  const prefix = url.pathname.replace(/\/+$/, '')
  const fields = [...(url.search === '' ? [] : [url.search.slice(1)]), ...query]
  return `${url.origin}${prefix}${path.startsWith('/') ? path : `/${path}`}${fields.length === 0 ? '' : `?${fields.join('&')}`}`
}
