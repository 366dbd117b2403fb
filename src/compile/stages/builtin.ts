/**
 * The tools that the engine itself executes, as Tool documents would describe them.
 * Source: docs/design/models-and-tools.md#built-in-tools
 */
import { satisfies } from 'semver'
import type { LogicalRef } from '../../documents/text/reference.ts'
import { BUILTIN_VERSION, type BoundTool, type JsonSchema } from '../../spec/snapshot.ts'

interface BuiltinDescription {
  readonly description: string
  readonly input: JsonSchema
}

const TOOLS: Readonly<Record<string, BuiltinDescription>> = {
  'svc.ask_user': {
    description: 'Says something to the person who started this run and waits for the reply.',
    input: {
      type: 'object',
      required: ['message'],
      properties: { message: { type: 'string', minLength: 1, description: 'What the person reads.' } },
      additionalProperties: false,
    },
  },
  'svc.request_input': {
    description: 'Asks a person for one value: a text, a number, or a choice between options. Waits for the answer.',
    input: {
      type: 'object',
      required: ['kind', 'prompt'],
      properties: {
        kind: { enum: ['text', 'number', 'multi_option'] },
        prompt: { type: 'string', minLength: 1, description: 'The question.' },
        options: {
          type: 'array',
          minItems: 1,
          maxItems: 50,
          description: 'For multi_option: what may be chosen.',
          items: {
            anyOf: [
              { type: 'string', minLength: 1 },
              {
                type: 'object',
                required: ['id', 'label'],
                properties: { id: { type: 'string', minLength: 1 }, label: { type: 'string', minLength: 1 } },
                additionalProperties: false,
              },
            ],
          },
        },
        min: { type: 'number', description: 'For number: the least.' },
        max: { type: 'number', description: 'For number: the most.' },
      },
      additionalProperties: false,
    },
  },
  'svc.wait_until': {
    description: 'Waits until a time, at most 366 days ahead. Costs nothing meanwhile.',
    input: {
      type: 'object',
      properties: {
        at: { type: 'string', minLength: 1, maxLength: 40, description: 'The time: 2026-11-20T10:00:00Z.' },
        after: { type: 'string', minLength: 2, maxLength: 40, description: 'Or the time from now: 90s, 10m, 2h, 3d.' },
      },
      additionalProperties: false,
    },
  },
  'svc.wait_event': {
    description: 'Waits for a named signal from outside, and returns its data.',
    input: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 100, description: 'Name of the signal: parcel.delivered.' },
        schema: { type: 'object', description: 'JSON Schema that the data of the signal must match.' },
        timeout: { type: 'string', minLength: 2, maxLength: 40, description: 'How long to wait at most: 10m, 2h, 3d.' },
      },
      additionalProperties: false,
    },
  },
  'svc.read_file': {
    description: 'Reads the text of a file that was handed to this session. Long files are read in parts.',
    input: {
      type: 'object',
      required: ['filename'],
      properties: {
        filename: { type: 'string', minLength: 1 },
        offset: { type: 'integer', minimum: 0, description: 'First character, from 0.' },
        length: { type: 'integer', minimum: 1, description: 'Characters to read.' },
      },
      additionalProperties: false,
    },
  },
}

/** The built-in tool that a reference names, without its wire name; undefined if there is none in that range. */
export function builtinTool({ id, range }: LogicalRef): BoundTool | undefined {
  const tool = Object.hasOwn(TOOLS, id) ? TOOLS[id] : undefined
  if (!tool || !satisfies(BUILTIN_VERSION, range ?? '*')) return undefined
  return {
    wire: '',
    id,
    version: BUILTIN_VERSION,
    description: tool.description,
    inputSchema: tool.input,
    inputSchemas: [tool.input],
    sideEffectClass: 'read_only',
    labels: {},
    builtin: true,
  }
}
