/** `svc import mcp`: tools of MCP servers as Tool documents. Source: docs/design/command-line.md#imports */
import type { mcpImportAnswer, mcpImportListAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { ToolListing } from '../../../tools/mcp/listed-tool.ts'
import type { ForeignServer, ForeignTool } from '../../../import/agents/foreign-project.ts'
import { cleanForeignText, quoteForeign } from '../../../import/foreign-text.ts'
import { anyGlob } from '../../../import/glob.ts'
import { LossList } from '../../../import/losses.ts'
import { listServerTools, toForeignTool } from '../../../import/mcp/list-server-tools.ts'
import { planMcpImport, type McpImport } from '../../../import/mcp/plan-mcp-import.ts'
import { readMcpSource } from '../../../import/mcp/read-mcp-source.ts'
import {
  EXIT_AUTHORITY,
  concernsAuthority,
  countActions,
  printImportRows,
  printLosses,
  printQuestions,
} from '../../../import/print-import.ts'
import { writeImport } from '../../../import/write-import.ts'
import { loadDocuments } from '../../project/documents.ts'
import { readDotEnv } from '../../project/dot-env.ts'
import { openProject, type Project } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'
import { packageVersion } from '../../shell/version.ts'
import { withSpinner } from '../../shell/screen/spinner.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

type ImportCall = CommandContext<ValueOf<typeof mcpImportAnswer> | ValueOf<typeof mcpImportListAnswer>>

/** More are not written without `--all`: an agent uses at most 40 tools well. */
const MOST_UNASKED = 100

interface ListedServer {
  readonly server: ForeignServer
  readonly tools: readonly ForeignTool[]
}

export async function importMcp(call: ImportCall): Promise<number | void> {
  const { given, mode, out, cwd } = call
  const project = await openProject(call)
  const source = readMcpSource(given.argument(0)!, {
    cwd,
    projectDirectory: project.directory,
    entries: given.list('entry'),
    server: given.text('server'),
    bearer: given.text('bearer'),
  })
  refuseToStart(source.servers, source.name, given.flag('run'))
  const losses = new LossList()
  const listed = await listAll(call, project, source.servers, source.saved, losses)
  const globs = given.list('tool').map(anyGlob)
  const servers = listed.map(({ server, tools }) => ({
    server,
    tools: tools.filter(({ name }) => globs.length === 0 || globs.some((glob) => glob.test(name))),
  }))
  if (given.flag('list')) return await listSelected(servers, call)
  const count = servers.reduce((sum, { tools }) => sum + tools.length, 0)
  if (count > MOST_UNASKED && !given.flag('all'))
    throw usageFailure(`${count} tools are selected.`, "Select some: --tool 'list*', or give --all.")
  const isPart = given.list('tool').length + given.list('entry').length > 0 || servers.length < source.servers.length
  const { title, name } = source
  const { directory } = project
  const plan = planMcpImport({
    title,
    source: name,
    servers,
    namespace: given.text('namespace'),
    directory,
    isPart,
    losses,
  })
  const { files, questions } = await writeImport(project, await loadDocuments(project), plan)
  const ending = concernsAuthority(plan.losses) ? EXIT_AUTHORITY : 0
  const { namespace, recordPath } = plan
  if (mode.json) {
    const documents = files.map(({ id, key, path, action }) => ({ tool: id, source: key, path, action }))
    const bindings = { tools: plan.bindings, mcp_servers: plan.servers, secrets: plan.secrets }
    await out.json({ namespace, record: recordPath, documents, lost: plan.losses, questions, bindings })
    return ending
  }
  out.prose(`${name}: ${countActions(files)} as ${namespace}.*`)
  printLosses(plan.losses, out.line)
  printQuestions(questions, out.line)
  if (ending !== 0) out.hint('What concerns authority was not carried: look at these tools before an agent gets them.')
  for (const each of nextLines(plan)) out.hint(each)
  return ending
}

/** A program that a foreign file names is started only by a person who says so. @throws Failure `usage` */
export function refuseToStart(servers: readonly ForeignServer[], source: string, mayRun: boolean): void {
  const programs = servers.filter(({ command }) => command !== undefined)
  if (mayRun || programs.length === 0) return
  const names = programs.slice(0, 5).map(({ name, command }) => `${name} (${quoteForeign(command!.join(' '))})`)
  throw usageFailure(
    `Only a program knows its tools, and svc starts none by itself: ${source} names ${names.join(', ')}.`,
    'Give --run to start them, once each, or leave them out: --entry NAME selects servers.',
  )
}

async function listAll(
  call: ImportCall,
  project: Project,
  servers: readonly ForeignServer[],
  saved: ToolListing | undefined,
  losses: LossList,
): Promise<readonly ListedServer[]> {
  const fromFiles = [...(await readDotEnv(project.directory))].map(([name, { value }]) => [name, value] as const)
  const options = {
    env: { ...Object.fromEntries(fromFiles), ...call.io.env },
    directory: project.directory,
    allowedHosts: project.config.network?.allowed_hosts ?? [],
    version: packageVersion,
  }
  const listed: ListedServer[] = []
  for (const server of servers) {
    const listing =
      saved ??
      (await withSpinner(call, `asking MCP server "${server.name}" for its tools`, () =>
        listServerTools(server, options),
      ))
    if ('problem' in listing) {
      if (servers.length === 1) throw usageFailure(listing.problem, fixOf(server))
      losses.add(server.at, `left out: ${listing.problem}`, true)
      continue
    }
    for (const { tool, problem } of listing.faults)
      losses.add(
        tool === undefined ? server.at : `${server.name} ${tool}`,
        problem,
        tool !== undefined && listing.tools.has(tool),
      )
    listed.push({ server, tools: [...listing.tools.values()].map((tool) => toForeignTool(tool, server)) })
  }
  return listed
}

/** What an address alone does not say. */
const fixOf = ({ url, headers }: ForeignServer): string | undefined =>
  url !== undefined && headers === undefined ? 'If it wants a token: --bearer VARIABLE, which has it.' : undefined

async function listSelected(servers: readonly ListedServer[], { mode, out }: ImportCall): Promise<void> {
  const items = servers.flatMap(({ server, tools }) =>
    tools.map(({ name, hint, description }) => ({
      server: server.name,
      tool: name,
      hint: hint ?? null,
      description: cleanForeignText(description, 200) ?? '',
    })),
  )
  if (mode.json) return await out.json({ items, total: items.length })
  printImportRows(
    items.map(({ server, tool, description }) => [server, tool, description.split('\n')[0]!]),
    out.line,
  )
}

/** What an agent needs to call the tools, as its document says it. */
function nextLines({ bindings, servers, secrets }: McpImport): readonly string[] {
  const lines = (items: readonly object[]): string[] => items.map((each) => `  - ${JSON.stringify(each)}`)
  const hasSecrets = Object.keys(secrets).length > 0
  return [
    'next:  svc lint, then bind the tools in an agent:',
    ...(hasSecrets ? [`  secrets: ${JSON.stringify(secrets)}`] : []),
    '  mcp_servers:',
    ...lines(servers).map((each) => `  ${each}`),
    '  tools:',
    ...lines(bindings.slice(0, 3)).map((each) => `  ${each}`),
    ...(bindings.length > 3 ? [`    … ${bindings.length - 3} more: --json lists all`] : []),
  ]
}
