/** What the tools of MCP servers become: a Tool document each, and entries of the project file for servers that are programs. Source: docs/design/command-line.md#imports */
import type { JsonObject } from '../../base/json/json.ts'
import { OPERATION_RECORD_VERSION } from '../../spec/project/operation-record.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import { planServer, ServerNames } from '../agents/foreign-server.ts'
import type { ForeignServer, ForeignTool } from '../agents/foreign-project.ts'
import { ToolPlan } from '../agents/tool-document.ts'
import { namespaceFor, readImportRecord, writtenOf, type ImportPlan } from '../import-plan.ts'
import type { LossList } from '../losses.ts'
import { maskPlanned } from '../mask-planned.ts'

export interface McpImportRequest {
  readonly title: string
  readonly source: string
  readonly servers: readonly { readonly server: ForeignServer; readonly tools: readonly ForeignTool[] }[]
  readonly namespace: string | undefined
  readonly directory: string
  /** Not all of the source's tools: what is missing may still be there. */
  readonly isPart: boolean
  /** Has what reading lost. */
  readonly losses: LossList
}

export interface McpImport extends ImportPlan {
  /** Entries of an agent that calls the tools: of `tools`, `mcp_servers` and `secrets`. */
  readonly bindings: readonly JsonObject[]
  readonly servers: readonly JsonObject[]
  readonly secrets: JsonObject
}

/** Reads only. @throws Failure `usage` */
export function planMcpImport({
  title,
  source,
  servers,
  directory,
  isPart,
  losses,
  ...given
}: McpImportRequest): McpImport {
  const namespace = namespaceFor(given.namespace, title)
  const names = new ServerNames()
  const plan = new ToolPlan(namespace, names, losses, servers.length > 1)
  const planned = servers.map(({ server }) => planServer(server, names.nameOf(server), { namespace, losses }))
  const bindings = servers.flatMap(({ tools }) =>
    tools.map((tool): JsonObject => {
      const { ref, rest } = plan.bind(tool, undefined, new Set())
      return { ref, ...rest }
    }),
  )
  const files = maskPlanned(plan.files(), losses)
  if (files.length === 0) throw usageFailure(`No tool of ${source} is selected.`)
  const recordPath = `imports/${namespace}.mcp.json`
  const before = readImportRecord(directory, recordPath)
  const present = new Set(files.map(({ path }) => path))
  return {
    namespace,
    source,
    recordPath,
    before,
    record: {
      svcImport: OPERATION_RECORD_VERSION,
      source,
      securitySchemes: {},
      operations: {},
      written: { ...before?.written, ...writtenOf(files) },
    },
    files,
    config: planned.flatMap(({ config }) => config),
    losses: losses.all(),
    gone: isPart ? [] : Object.keys(before?.written ?? {}).filter((path) => !present.has(path)),
    bindings,
    servers: planned.map(({ entry }) => entry),
    secrets: Object.assign({}, ...planned.map((each) => each.secrets)) as JsonObject,
  }
}
