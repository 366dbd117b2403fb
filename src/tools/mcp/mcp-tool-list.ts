/** Reads lists of tools element by element: an odd element takes none of its neighbours away. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ListedTool, ToolList, ToolListFault } from './listed-tool.ts'
import type { McpAnswer } from './mcp-answer.ts'
import { McpFormError, type ClientAnswer } from './mcp-exchange.ts'

/** A page has some hundred tools; the limit stops a server that never ends its list. */
const MAX_PAGES = 20

export interface ToolListReader {
  /** Reads a page and returns what the client needs to know of it. */
  readonly readPage: (answer: McpAnswer) => ClientAnswer
  /**
   * The list of all pages.
   * @param offered names of the tools that the client would call
   */
  list(offered: ReadonlySet<string>): ToolList
}

export function createToolListReader(): ToolListReader {
  const tools = new Map<string, ListedTool>()
  const faults: ToolListFault[] = []
  const cursors = new Set<string>()
  let pages = 0
  let entries = 0

  const readEntry = (entry: JsonValue): ListedTool | undefined => {
    entries++
    const read = readTool(entry, entries)
    if ('problem' in read) return void faults.push(read)
    if (tools.has(read.name))
      return void faults.push({ problem: `Tool "${read.name}" is listed twice; only the first is used.` })
    tools.set(read.name, read)
    return read
  }

  return {
    readPage(answer) {
      pages++
      const page = answer.at === 'result' ? toPage(answer.result) : undefined
      if (!page) {
        const why = whyNoPage(answer)
        // An error of the first page is for the client.
        if (pages === 1 && answer.at === 'error') return { error: { code: answer.code, message: answer.message } }
        if (pages === 1) throw new McpFormError(why)
        faults.push({ problem: `Page ${pages} of its list of tools is left out: the server ${why}` })
        return { result: CLIENT_PAGE }
      }
      const isCut = answer.at === 'result' && answer.cutAt !== undefined
      // The last element may be half of one.
      const read = (isCut ? page.tools.slice(0, -1) : page.tools).flatMap((entry) => readEntry(entry) ?? [])
      if (isCut)
        faults.push({
          problem: `Its list of tools is longer than ${answer.cutAt} bytes; svc reads the first ${entries} tools.`,
        })
      let next = isCut ? undefined : page.next
      if (next !== undefined && cursors.has(next)) {
        faults.push({ problem: 'Its list of tools goes round: a page leads to one before it.' })
        next = undefined
      } else if (next !== undefined) cursors.add(next)
      if (next !== undefined && pages === MAX_PAGES)
        faults.push({
          problem: `Its list of tools has more than ${MAX_PAGES} pages; svc reads the first ${entries} tools.`,
        })
      return {
        result: {
          ...CLIENT_PAGE,
          tools: read.map(toClientTool),
          ...(next !== undefined && pages < MAX_PAGES && { nextCursor: next }),
        },
      }
    },
    list(offered) {
      const refused = [...tools.keys()].filter((name) => !offered.has(name))
      return {
        tools: new Map([...tools].filter(([name]) => offered.has(name))),
        faults: [
          ...faults,
          ...refused.map((tool) => ({
            tool,
            problem: `Tool "${tool}" is left out: it uses "x-mcp-header" in a way that the protocol forbids.`,
          })),
        ],
      }
    },
  }
}

/** The members that the newest revision asks for beside the tools. */
const CLIENT_PAGE: JsonObject = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: [] }

function toPage(result: JsonValue): { readonly tools: readonly JsonValue[]; readonly next?: string } | undefined {
  if (Array.isArray(result)) return { tools: result }
  if (!isJsonObject(result) || !Array.isArray(result['tools'])) return undefined
  const { tools, nextCursor } = result
  return { tools, ...(typeof nextCursor === 'string' && nextCursor !== '' && { next: nextCursor }) }
}

function whyNoPage(answer: McpAnswer): string {
  if (answer.at === 'error') return `answers "tools/list" with an error: ${answer.message}`
  if (answer.at === 'unreadable') return `answers "tools/list" with what ${answer.why}.`
  if (answer.cutAt !== undefined) return `answers "tools/list" with more than ${answer.cutAt} bytes.`
  return 'answers "tools/list" without a list of tools.'
}

function readTool(entry: JsonValue, place: number): ListedTool | ToolListFault {
  if (!isJsonObject(entry)) return { problem: `Entry ${place} of its list of tools is left out: it is no object.` }
  const { name, description, inputSchema, annotations } = entry
  if (typeof name !== 'string' || name === '')
    return { problem: `Entry ${place} of its list of tools is left out: it has no name.` }
  const lost = (why: string): ToolListFault => ({ tool: name, problem: `Tool "${name}" is left out: ${why}.` })
  if (!isAbsent(description) && typeof description !== 'string') return lost('its description is no text')
  if (!isAbsent(inputSchema) && !isJsonObject(inputSchema)) return lost('its inputSchema is no object')
  const { readOnlyHint, destructiveHint } = isJsonObject(annotations) ? annotations : {}
  return {
    name,
    description: isAbsent(description) ? '' : description,
    // A tool without a schema takes no arguments that its server would name.
    inputSchema: isAbsent(inputSchema) ? { type: 'object' } : inputSchema,
    ...(typeof readOnlyHint === 'boolean' && { readOnly: readOnlyHint }),
    ...(typeof destructiveHint === 'boolean' && { destructive: destructiveHint }),
  }
}

const isAbsent = (value: JsonValue | undefined): value is null | undefined => value === undefined || value === null

/** A tool in the strict form in which the client reads it, to send arguments as headers where the schema says so. */
function toClientTool({ name, inputSchema }: ListedTool): JsonObject {
  const { properties, required: _, $schema: __, ...schema } = inputSchema
  return { name, inputSchema: { ...schema, ...(isJsonObject(properties) && { properties }), type: 'object' } }
}
