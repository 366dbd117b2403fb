/** The route of imported operations in the project file. */
import type { JsonObject } from '../../base/json/json.ts'
import type { OperationRecord } from '../../spec/operation-record.ts'
import type { ConfigEntry } from './import-plan.ts'

export function routeEntry(namespace: string, url: string, recordPath: string, record: OperationRecord): ConfigEntry {
  const used = new Set(Object.values(record.operations).flatMap(({ security = [] }) => security.flat()))
  const names = Object.keys(record.securitySchemes).filter((name) => used.has(name))
  const security: JsonObject = Object.fromEntries(names.map((name) => [name, { fromEnv: variableOf(namespace, name) }]))
  return {
    at: ['tools', `${namespace}.*`],
    value: { openapi: { url, record: recordPath, ...(names.length > 0 && { security }) } },
    owner: 'openapi',
    compared: [['openapi', 'url']],
  }
}

/** The source chooses both names, and where the secret is sent: without the prefix, `OpenAI` and `apiKey` would take a key that is set. */
const variableOf = (namespace: string, scheme: string): string =>
  `openapi_${namespace}_${scheme}`
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
