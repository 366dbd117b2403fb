/** A run as the result of an MCP call. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import type { ErrorBody, PendingAnswer } from '../../spec/api.ts'
import { runAddress, taskAddress } from '../../view/console-address.ts'
import type { McpAddress } from './mcp-tools.ts'

/** The tool that tells how a run goes. */
export const RUN_TOOL = 'svc_run'

interface RunSeen {
  readonly runId: string
  readonly status: string
  readonly output: unknown
  readonly error?: string
  readonly pending?: readonly PendingAnswer[]
}

/** Schema of `structuredContent`: a run that waits or failed has no output, so the output is a part of it. */
export const resultSchema = (output: JsonSchema | undefined) => ({
  ...(isJsonObject(output) && typeof output['$schema'] === 'string' && { $schema: output['$schema'] }),
  type: 'object' as const,
  properties: {
    runId: { type: 'string' },
    status: { type: 'string' },
    output: output === undefined ? {} : nestSchema(output, '/properties/output'),
    error: { type: 'string' },
    waitsFor: {
      type: 'array',
      items: {
        type: 'object',
        properties: { kind: { type: 'string' }, prompt: { type: 'string' }, url: { type: 'string' } },
        required: ['kind', 'prompt'],
      },
    },
  },
  required: ['runId', 'status'],
})

/** @param consoleUrl null where the server has no console */
export function toCallResult(run: RunSeen, consoleUrl: string | null): CallToolResult {
  const { runId, status, output, error, pending = [] } = run
  const isEnded = status === 'Failed' || status === 'Cancelled'
  const structured: JsonObject = {
    runId,
    status,
    ...(status === 'Completed' && { output: toJson(output ?? null) }),
    ...(error !== undefined && { error }),
    ...(pending.length > 0 && { waitsFor: toJson(pending.map((each) => waitOf(each, consoleUrl))) }),
  }
  return {
    content: [{ type: 'text', text: textOf(run, consoleUrl) }],
    structuredContent: structured,
    ...(isEnded && { isError: true }),
  }
}

/** The address at which a person answers; undefined where nobody is waited for, or the server has no console. */
export function personAddressOf(
  { runId, status, pending = [] }: RunSeen,
  consoleUrl: string | null,
): McpAddress | undefined {
  if (consoleUrl === null || !status.startsWith('WaitingFor')) return undefined
  const [first] = pending
  const url =
    first?.userTaskId === undefined ? runAddress(consoleUrl, runId) : taskAddress(consoleUrl, first.userTaskId)
  return { message: first ? promptOf(first) : 'A person decides before the run goes on.', url, state: runId }
}

/** One line: a prompt may repeat what a model wrote. */
const promptOf = ({ prompt }: PendingAnswer): string => prompt.replace(/\s+/g, ' ').trim()

const waitOf = (pending: PendingAnswer, consoleUrl: string | null) => ({
  kind: pending.kind,
  prompt: promptOf(pending),
  ...(consoleUrl !== null && pending.userTaskId !== undefined && { url: taskAddress(consoleUrl, pending.userTaskId) }),
})

function textOf(run: RunSeen, consoleUrl: string | null): string {
  const { runId, status, output, error, pending = [] } = run
  const again = `Ask how it goes with ${RUN_TOOL} {"runId":"${runId}"}.`
  switch (status) {
    case 'Completed':
      return typeof output === 'string' ? output : JSON.stringify(output ?? null)
    case 'Failed':
      return `The run failed: ${error ?? 'it says no reason.'} (run ${runId})`
    case 'Cancelled':
      return `The run was cancelled. (run ${runId})`
    case 'Running':
      return `The run is still at work. ${again}`
    default: {
      const where = personAddressOf(run, consoleUrl)?.url
      const tasks = pending.map((each) => `${each.kind}: ${promptOf(each)}`)
      const how = where === undefined ? `with svc inbox, or at a console` : `at ${where}`
      return [
        'The run waits for a person. It goes on once somebody who may decide it has answered; you cannot answer for them.',
        ...tasks,
        `It is answered ${how}. ${again}`,
      ].join('\n')
    }
  }
}

/** Text of a failure, as the HTTP interface words it; places are those of the arguments, which are the input of the start. */
export function failureText({ error, code, fix, details = [] }: ErrorBody): string {
  const places = details.map(({ path, message }) => `${path.replace(/^\/input(?=\/|$)/, '') || '/'}: ${message}`)
  return [`${code}: ${error}`, ...places, ...(fix === undefined ? [] : [fix])].join('\n')
}

/** Their values are data, in which `$ref` is a member like any other. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])

/** @param at JSON pointer of its new place */
const nestSchema = (schema: JsonSchema, at: string): JsonSchema =>
  isJsonObject(schema) ? nestObject(withoutDialect(schema), at) : schema

/** The root names the dialect. */
const withoutDialect = (schema: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'))

function nestValue(value: JsonValue, at: string): JsonValue {
  if (Array.isArray(value)) return value.map((each) => nestValue(each, at))
  return isJsonObject(value) ? nestObject(value, at) : value
}

function nestObject(schema: JsonObject, at: string): JsonObject {
  // A schema with an id of its own stays the root of its references.
  if (typeof schema['$id'] === 'string') return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === '$ref' && typeof value === 'string' && /^#(?:\/|$)/.test(value))
        return [key, `#${at}${value.slice(1)}`]
      return [key, DATA.has(key) ? value : nestValue(value, at)]
    }),
  )
}
