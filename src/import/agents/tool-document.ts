/** A tool of a source as a Tool document and, for each agent, as a binding. */
import type { JsonObject } from '../../base/json/json.ts'
import { cleanForeignText } from '../foreign-text.ts'
import type { PlannedFile } from '../import-plan.ts'
import type { LossList } from '../losses.ts'
import { convertSchema } from '../openapi-schema.ts'
import { toToolName, withDigest } from '../openapi-document.ts'
import type { ForeignRule, ForeignTool } from './foreign-project.ts'
import type { ServerNames } from './foreign-server.ts'

/** The bounds of schemas that runs accept, with some room for what is around them. */
const ROOM = { bytes: 48 * 1024, nodes: 1200 }
const MAX_NAME = 56

/** What is allowed needs no policy, but a class. */
export type CarriedRule = Exclude<ForeignRule, 'allow'>

const POLICY_OF: Readonly<Record<CarriedRule, { readonly name: string; readonly spec: JsonObject }>> = {
  ask: {
    name: 'asks-first',
    spec: {
      description: 'The source asks a person before these calls.',
      decision: {
        type: 'require_approval',
        reason: 'The source asks a person before this call',
        timeout: { after_minutes: 60, default: 'deny' },
      },
    },
  },
  deny: {
    name: 'never-calls',
    spec: {
      description: 'The source forbids these calls.',
      decision: { type: 'deny', reason: 'The source forbids this call' },
    },
  },
  unclassified: {
    name: 'unclassified',
    spec: {
      description: 'A person approves the calls of tools until somebody has said what they do: give each its class.',
      conditions: { field: 'tool.side_effect_class', op: 'eq', value: 'irreversible_action' },
      decision: {
        type: 'require_approval',
        reason: 'Nobody has said yet what this tool does',
        timeout: { after_minutes: 60, default: 'deny' },
      },
    },
  },
}

export interface PlannedBinding {
  readonly ref: string
  readonly as?: string
  readonly rest: JsonObject
}

/** Gives each tool of a source its document, once, however many agents use it. */
export class ToolPlan {
  readonly #files = new Map<string, PlannedFile>()
  readonly #names = new Map<string, string>()
  readonly #rules = new Set<CarriedRule>()

  readonly namespace: string
  readonly servers: ServerNames
  readonly losses: LossList
  readonly #isPrefixed: boolean

  /** @param isPrefixed the names of tools begin with that of their server; false where the namespace is the server */
  constructor(namespace: string, servers: ServerNames, losses: LossList, isPrefixed = true) {
    this.namespace = namespace
    this.servers = servers
    this.losses = losses
    this.#isPrefixed = isPrefixed
  }

  /** The documents of all tools and policies that were bound. */
  files(): readonly PlannedFile[] {
    const { namespace } = this
    const policies = [...this.#rules].sort().map((rule): PlannedFile => {
      const { name, spec } = POLICY_OF[rule]
      return {
        kind: 'Policy',
        id: `${namespace}.${name}`,
        key: `rule "${rule}"`,
        path: policyPath(namespace, rule),
        content: { apiVersion: 'svc/v1', kind: 'Policy', metadata: { name, namespace, version: '1.0.0' }, spec },
      }
    })
    return [...this.#files.values(), ...policies]
  }

  /** The binding of a tool; `rule` is what is carried of what the source says before a call. */
  bind(tool: ForeignTool, rule: CarriedRule | undefined, taken: ReadonlySet<string>): PlannedBinding {
    const { id, last } = this.#document(tool)
    const as = tool.shownAs
    const isUsable = as !== undefined && as !== last && /^[A-Za-z0-9_-]{1,64}$/.test(as) && !taken.has(as)
    if (rule) this.#rules.add(rule)
    return {
      ref: `${id}@^1.0.0`,
      ...(isUsable && { as }),
      rest: {
        ...(tool.server && { mcp: { server: this.servers.nameOf(tool.server), tool: tool.name } }),
        ...(rule && { policies: [{ ref: policyPath(this.namespace, rule) }] }),
      },
    }
  }

  /** Tools of one name that differ are different tools. */
  #document(tool: ForeignTool): { readonly id: string; readonly last: string } {
    const { namespace, losses } = this
    const plain =
      toToolName(tool.server && this.#isPrefixed ? `${this.servers.nameOf(tool.server)} ${tool.name}` : tool.name) ||
      'tool'
    const spec = this.#specOf(tool)
    // Names of a server that differ in case or signs alone are those of different tools, however alike they are described.
    const signature = JSON.stringify([plain, tool.name, spec])
    const known = this.#names.get(signature)
    if (known !== undefined) return { id: `${namespace}.${known}`, last: known }
    const isFree = (name: string): boolean => !this.#files.has(name) && name.length <= MAX_NAME
    // By its name where that is enough: a description changes.
    const name = [plain, withDigest(plain, tool.name)].find(isFree) ?? withDigest(plain, signature)
    this.#names.set(signature, name)
    if (!tool.server) losses.add(tool.at, 'its program is not carried: name one below `tools` in svc.config.yaml')
    const id = `${namespace}.${name}`
    this.#files.set(name, {
      kind: 'Tool',
      id,
      key: tool.at,
      path: `tools/${namespace}/${name}.yaml`,
      content: { apiVersion: 'svc/v1', kind: 'Tool', metadata: { name, namespace, version: '1.0.0' }, spec },
      questions:
        tool.sideEffect === undefined
          ? [{ at: ['spec', 'side_effect_class'], what: unclassifiedQuestion(tool.hint) }]
          : [],
    })
    return { id, last: name }
  }

  #specOf(tool: ForeignTool): JsonObject {
    const text = cleanForeignText(tool.description, 1000)
    const input =
      tool.input &&
      convertSchema({ root: tool.input, isOld: false }, tool.input, ROOM, (what, authority) =>
        this.losses.add(tool.at, `its arguments: ${what}`, authority),
      )
    return {
      ...(text !== undefined && { description: text }),
      side_effect_class: tool.sideEffect ?? 'irreversible_action',
      ...(input && { input_schema: { inline: input } }),
    }
  }
}

const unclassifiedQuestion = (hint: string | undefined): string =>
  `what does a call do? ${hint === undefined ? '' : `${hint} `}Until this is another class, a person approves each call, and it is never made twice.`

const policyPath = (namespace: string, rule: CarriedRule): string =>
  `policies/${namespace}/${POLICY_OF[rule].name}.yaml`
