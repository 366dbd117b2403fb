/** Tool bindings that are routed to an MCP server. Source: docs/design/authoring-format.md#tool-binding */
import { isJsonObject } from '../../../base/json/json.ts'
import { textMember, toolsOf, wireNameOf, type ToolUse } from './bindings.ts'
import type { Document } from '../../text/document.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export interface McpUse {
  readonly use: ToolUse
  /** Name of an entry of `spec.mcp_servers`. */
  readonly server: string
  /** Name of the tool on the server: the wire name where the binding says no other. */
  readonly tool: string
}

export const mcpUsesOf = (workspace: Workspace, agent: Document): readonly McpUse[] =>
  toolsOf(agent).flatMap((use) => {
    const { mcp } = use.value
    const server = isJsonObject(mcp) ? textMember(mcp, 'server') : undefined
    const tool = isJsonObject(mcp) ? (textMember(mcp, 'tool') ?? wireNameOf(workspace, use)) : undefined
    return server === undefined || tool === undefined ? [] : [{ use, server, tool }]
  })
