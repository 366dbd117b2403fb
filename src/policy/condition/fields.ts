/** Every fact that conditions can name besides arguments and history. Source: docs/design/policies.md#facts */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { SIDE_EFFECT_CLASSES } from '../../spec/document.ts'
import type { CallFacts } from './decision.ts'

export interface CallField {
  /** Undefined = absent. */
  readonly read: (facts: CallFacts) => JsonValue | undefined
  /** The values it can have, as JSON Schema. */
  readonly schema: JsonObject
  /** Value in the first call of a run that the API starts; undefined if the call determines it, or if it is absent. */
  readonly usual?: JsonValue
  /** A call may be without it. */
  readonly isOptional?: true
  /** Computed from another field. */
  readonly isDerived?: true
}

const TEXT: JsonObject = { type: 'string' }
/** Texts that callers choose have at most 200 characters. */
const SHORT_TEXT: JsonObject = { type: 'string', maxLength: 200 }
const BOOLEAN: JsonObject = { type: 'boolean' }
const COUNT: JsonObject = { type: 'integer', minimum: 0 }
const SECONDS: JsonObject = { type: 'number', minimum: 0 }
const LABELS: JsonObject = { type: 'object', additionalProperties: TEXT }
const DISPATCH: JsonObject = {
  type: 'object',
  properties: { trigger: { enum: ['none', 'no_handler', 'timeout', 'indeterminate'] } },
  required: ['trigger'],
}

/** An earlier call with the effect key. */
const PREVIOUS: JsonObject = {
  type: 'object',
  properties: {
    tool: TEXT,
    run_id: TEXT,
    agent: TEXT,
    version: TEXT,
    at: TEXT,
    age_seconds: SECONDS,
    outcome: { enum: ['done', 'in_flight', 'unknown'] },
    same_args: BOOLEAN,
    approved_by: { type: 'array', items: TEXT },
  },
  required: ['tool', 'run_id', 'agent', 'version', 'at', 'age_seconds', 'outcome', 'same_args', 'approved_by'],
}
/** The members of `effect.previous`. */
export const PREVIOUS_FIELDS: readonly string[] = Object.keys(PREVIOUS['properties'] as JsonObject)

const namespaceOf = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf('.')))
const nameOf = (id: string): string => id.slice(id.lastIndexOf('.') + 1)

/** By root, then by field. */
export const CALL_FIELDS: Readonly<Record<string, Readonly<Record<string, CallField>>>> = {
  tool: {
    id: { read: ({ tool }) => tool.id, schema: TEXT },
    namespace: { read: ({ tool }) => namespaceOf(tool.id), schema: TEXT, isDerived: true },
    name: { read: ({ tool }) => nameOf(tool.id), schema: TEXT, isDerived: true },
    version: { read: ({ tool }) => tool.version, schema: TEXT },
    wire_name: { read: ({ tool }) => tool.wire_name, schema: TEXT },
    kind: { read: ({ tool }) => tool.kind, schema: { enum: ['tool', 'mcp', 'agent'] } },
    mcp_server: { read: ({ tool }) => tool.mcp_server, schema: TEXT, isOptional: true },
    side_effect_class: {
      read: ({ tool }) => tool.side_effect_class,
      schema: { enum: [...SIDE_EFFECT_CLASSES] },
      isOptional: true,
    },
    labels: { read: ({ tool }) => tool.labels, schema: LABELS },
  },
  agent: {
    id: { read: ({ agent }) => agent.id, schema: TEXT },
    namespace: { read: ({ agent }) => namespaceOf(agent.id), schema: TEXT, isDerived: true },
    name: { read: ({ agent }) => nameOf(agent.id), schema: TEXT, isDerived: true },
    version: { read: ({ agent }) => agent.version, schema: TEXT },
    risk_tier: { read: ({ agent }) => agent.risk_tier, schema: TEXT, isOptional: true },
    classifications: {
      read: ({ agent }) => agent.classifications as JsonValue[],
      schema: { type: 'array', items: TEXT },
    },
    labels: { read: ({ agent }) => agent.labels, schema: LABELS },
  },
  run: {
    depth: { read: ({ run }) => run.depth, schema: COUNT, usual: 0 },
    is_subagent: { read: ({ run }) => run.is_subagent, schema: BOOLEAN, usual: false },
    iteration: { read: ({ run }) => run.iteration, schema: COUNT, usual: 1 },
    elapsed_seconds: { read: ({ run }) => run.elapsed_seconds, schema: SECONDS, usual: 0 },
    tokens_used: { read: ({ run }) => run.tokens_used, schema: COUNT, usual: 0 },
    trigger_type: {
      read: ({ run }) => run.trigger_type,
      schema: { enum: ['api', 'scheduled', 'operator'] },
      usual: 'api',
    },
    taint: { read: ({ run }) => run.taint, schema: BOOLEAN, usual: false },
  },
  session: {
    run_count: { read: ({ session }) => session.run_count, schema: COUNT, usual: 1 },
    tokens_used: { read: ({ session }) => session.tokens_used, schema: COUNT, usual: 0 },
    elapsed_seconds: { read: ({ session }) => session.elapsed_seconds, schema: SECONDS, usual: 0 },
  },
  principal: {
    type: {
      read: ({ principal }) => principal.type,
      schema: { enum: ['api_key', 'operator', 'schedule'] },
      usual: 'api_key',
    },
    id: { read: ({ principal }) => principal.id, schema: SHORT_TEXT, usual: '' },
    trigger_name: { read: ({ principal }) => principal.trigger_name, schema: SHORT_TEXT, isOptional: true },
  },
  effect: {
    key: { read: ({ effect }) => effect?.key, schema: TEXT, isOptional: true },
    repeated: { read: ({ effect }) => effect?.repeated, schema: BOOLEAN, isOptional: true },
    previous: {
      read: ({ effect }) => effect?.previous && toJson(effect.previous),
      schema: PREVIOUS,
      isOptional: true,
    },
  },
  time: { now: { read: ({ now }) => now, schema: { type: 'number' } } },
  svc: {
    dispatch: { read: ({ svc }) => ({ trigger: svc.dispatch.trigger }), schema: DISPATCH, usual: { trigger: 'none' } },
    limit: { read: ({ svc }) => svc.limit, schema: SHORT_TEXT, usual: 'none' },
  },
}
