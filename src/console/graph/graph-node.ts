/** How a node is called, and what opens when it is chosen. */
import { safeText } from '../../base/text/escape-text.ts'
import type { GraphNode } from '../../operations/versions.ts'
import { address } from '../wire/navigation.ts'

export const titleOfNode = ({ name, version }: GraphNode): string =>
  safeText(version === undefined ? name : `${name}@${version}`)

/** The agent whose graph is shown has the page on which its tools and policies are read. */
export function hrefOfNode({ kind, name, version }: GraphNode): string {
  const root = address.value.path.replace(/\/graph$/, '')
  switch (kind) {
    case 'agent':
      return `/agents/${encodeURIComponent(name)}${version === undefined ? '' : `?version=${encodeURIComponent(version)}`}`
    case 'policy':
      return `/policies?agent=${root.slice('/agents/'.length)}`
    case 'secret':
      return '/admin?tab=secrets'
    case 'tool':
    case 'mcp_server':
      return root
  }
}

export const KIND_NAMES: Readonly<Record<GraphNode['kind'], string>> = {
  agent: 'agent',
  tool: 'tool',
  mcp_server: 'MCP server',
  policy: 'policy',
  secret: 'secret',
}
