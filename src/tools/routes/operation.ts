/**
 * A tool that is an operation of an OpenAPI document: the arguments become the request that the document describes.
 * Source: docs/design/models-and-tools.md#operations-of-an-openapi-document
 */
import { resolve } from 'node:path'
import type { Redactor } from '../../base/secret.ts'
import type { OpenApiRouteConfig } from '../../spec/project/config.ts'
import type { OperationRecord, RecordedOperation } from '../../spec/project/operation-record.ts'
import { callHttp, type HttpParts } from './http.ts'
import type { ToolInvocation, ToolOutcome } from '../tool.ts'
import { OperationRecordError, readOperationRecord } from '../openapi/record.ts'
import { buildOperationRequest, OperationRequestError, type SchemeSecret } from '../openapi/request.ts'
import { ownMember } from '../../base/json/own-member.ts'

export interface OperationParts extends Omit<HttpParts, 'url'> {
  readonly route: OpenApiRouteConfig
  /** Directory from which the path of the record counts. */
  readonly directory: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The records of a toolbox, each read at its first call. */
export type OperationRecords = Map<string, OperationRecord>

export async function callOperation(
  parts: OperationParts,
  records: OperationRecords,
  invocation: ToolInvocation,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { route, directory, env, redactor, ...http } = parts
  const { id } = invocation.tool
  const notSent = (code: 'no_handler' | 'refused' | 'secret_missing', error: string): ToolOutcome => ({
    at: 'not_sent',
    code,
    error,
  })
  try {
    const path = resolve(directory, route.record)
    const record = records.get(path) ?? readOperationRecord(path)
    records.set(path, record)
    const operation = Object.hasOwn(record.operations, id) ? record.operations[id] : undefined
    if (!operation) return notSent('no_handler', `${route.record} has no operation for ${id}.`)
    const found = findSecrets(operation, record, route, env, redactor)
    if ('missing' in found) return notSent('secret_missing', `A request of ${id} needs ${found.missing}.`)
    const request = buildOperationRequest(route.url, operation, invocation.arguments, found.secrets)
    return await callHttp({ ...http, redactor, url: request.url }, invocation, signal, request)
  } catch (error) {
    if (error instanceof OperationRequestError) return notSent('refused', error.message)
    if (error instanceof OperationRecordError)
      return notSent('no_handler', `${route.record}, which says how ${id} is called, cannot be used: ${error.message}`)
    throw error
  }
}

/** The secrets of the first alternative for which all are there. */
function findSecrets(
  { security = [] }: RecordedOperation,
  { securitySchemes }: OperationRecord,
  { security: given = {} }: OpenApiRouteConfig,
  env: OperationParts['env'],
  redactor: Redactor,
): { readonly secrets: readonly SchemeSecret[] } | { readonly missing: string } {
  const missing: string[] = []
  // An alternative that needs nothing comes last: who gave a secret means it to be sent.
  const ordered = [...security].sort((a, b) => Number(a.length === 0) - Number(b.length === 0))
  for (const names of ordered) {
    const secrets: SchemeSecret[] = []
    for (const name of names) {
      const variable = ownMember(given, name)?.fromEnv
      const value = variable === undefined ? undefined : env[variable]
      const scheme = ownMember(securitySchemes, name)
      if (scheme && value) secrets.push({ scheme, value })
      else if (!scheme) missing.push(`the security scheme "${name}", which is not recorded`)
      else if (variable === undefined) missing.push(`the secret of "${name}", which \`openapi.security\` does not name`)
      else missing.push(`the environment variable ${variable}`)
    }
    if (secrets.length < names.length) continue
    secrets.forEach((secret) => redactSecret(secret, redactor))
    return { secrets }
  }
  const [first] = missing
  return first === undefined ? { secrets: [] } : { missing: first }
}

/** The password is a secret without its user, too. */
function redactSecret({ scheme, value }: SchemeSecret, redactor: Redactor): void {
  redactor.add(value)
  const colon = value.indexOf(':')
  if (scheme.type === 'basic' && colon !== -1 && colon < value.length - 1) redactor.add(value.slice(colon + 1))
}
