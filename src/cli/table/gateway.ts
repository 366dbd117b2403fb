/** Commands that put svc before the MCP servers of an existing client. */
import { gatewayListAnswer, unwrapAnswer, wrapAnswer } from '../answers/gateway.ts'
import { printsDocument } from '../answers/prints.ts'
import type { CommandEntry } from '../shell/command.ts'

const clientFile = {
  name: '<file>',
  description: '.mcp.json, .cursor/mcp.json, .vscode/mcp.json, opencode.json or a file like them',
}

export const gatewayCommands: readonly CommandEntry[] = [
  {
    path: 'gateway wrap',
    plane: 'offline',
    summary: "put svc before the MCP servers of a client's file",
    arguments: [clientFile],
    options: [
      { flags: '--run', description: 'start servers that are programs: only they know their tools' },
      { flags: '--entry <glob>', description: 'only servers of this name; the others stay', many: true },
      { flags: '--namespace <namespace>', description: 'namespace of the documents; from the client when absent' },
    ],
    examples: [
      'svc gateway wrap .mcp.json --run',
      'svc gateway wrap .vscode/mcp.json --entry crm --yes',
      'svc gateway wrap opencode.json --url https://svc.example.com',
    ],
    ...printsDocument(wrapAnswer),
    exits: { 3: 'something that concerns authority was not carried' },
    load: async () => (await import('../commands/author/gateway.ts')).gatewayWrap,
  },
  {
    path: 'gateway unwrap',
    plane: 'offline',
    summary: "restore a client's file as it was before wrap, with your edits since",
    arguments: [clientFile],
    examples: ['svc gateway unwrap .mcp.json', 'svc gateway unwrap opencode.json --yes'],
    ...printsDocument(unwrapAnswer),
    load: async () => (await import('../commands/author/gateway.ts')).gatewayUnwrap,
  },
  {
    path: 'gateway status',
    plane: 'offline',
    summary: "list the clients' files that lead to svc, or should",
    examples: ['svc gateway status', 'svc gateway status --json'],
    ...printsDocument(gatewayListAnswer),
    load: async () => (await import('../commands/author/gateway.ts')).gatewayStatus,
  },
]
