/** Commands that look after the installation. Source: command line, 2. */
import type { CommandSpec } from '../command.ts'

export const operate: readonly CommandSpec[] = [
  {
    path: 'doctor',
    group: 'Operate',
    plane: 'offline',
    summary: 'check what svc needs on this machine',
    arguments: [{ name: '[checks...]', say: 'node, sqlite, project, data; all by default' }],
    examples: ['svc doctor', 'svc doctor sqlite'],
    json: '{ok,items:[{check,ok,say,fix?}]}',
    exits: { 1: 'something is wrong' },
    load: async () => (await import('../commands/doctor.ts')).doctor,
  },
  {
    path: 'openapi',
    group: 'Operate',
    plane: 'offline',
    summary: 'print the OpenAPI 3.1 document of the HTTP interface',
    options: [
      { flags: '--format <format>', say: 'json by default', choices: ['json', 'yaml'] },
      { flags: '-o, --output <file>', say: 'write it there' },
    ],
    examples: ['svc openapi', 'svc openapi --format yaml -o openapi.yaml'],
    load: async () => (await import('../commands/openapi.ts')).openapi,
  },
  {
    path: 'help',
    group: 'Operate',
    plane: 'offline',
    summary: 'tell a command or a topic',
    arguments: [{ name: '[words...]', say: 'command, or environment, exit-codes, approvals, formatting' }],
    options: [{ flags: '--tree', say: 'every command with its summary' }],
    examples: ['svc help run', 'svc help exit-codes', 'svc help --tree'],
    json: '{commands:[{path,plane,summary,…}]}',
    exits: { 5: 'no such command or topic' },
    load: async () => (await import('../commands/help.ts')).help,
  },
  {
    path: 'version',
    group: 'Operate',
    plane: 'offline',
    summary: 'print the version, with --json of all parts',
    examples: ['svc version', 'svc version --json'],
    json: '{svc,node,platform,arch}',
    load: async () => (await import('../commands/version.ts')).versionCommand,
  },
]
