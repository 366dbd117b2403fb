/** Commands that serve. Source: command line, 2. */
import type { CommandEntry, OptionSpec } from '../shell/command.ts'
import {
  backupAnswer,
  diagnosticLine,
  heldCounts,
  readyAnswer,
  reloadAnswer,
  resetAnswer,
  restoreAnswer,
  restorePlan,
} from '../answers/serve.ts'
import { printsCases, printsDocument, printsLines } from '../answers/schema.ts'

const listening: readonly OptionSpec[] = [
  { flags: '--port <n>', description: 'port of the API, 0 for a free one; uploads take the next' },
  { flags: '--host <address>', description: 'address to listen on; 127.0.0.1 by default' },
  { flags: '--allow-remote', description: 'permit an address that other machines reach' },
  { flags: '--offline', description: 'replace every model by auto, except scripted ones' },
]

export const serveCommands: readonly CommandEntry[] = [
  {
    path: 'dev',
    plane: 'server',
    summary: 'serve, watch, and redeploy on every clean save',
    arguments: [{ name: '[path]', description: 'bundle, agent or directory; the project by default' }],
    options: [
      ...listening,
      { flags: '--no-watch', description: 'publish once' },
      { flags: '--ephemeral', description: 'keep nothing after the end' },
      { flags: '--https', description: 'a second address with a certificate of its own' },
      { flags: '--qr', description: 'show the address as a code for a camera' },
      { flags: '--record <dir>', description: 'record the answers of models and tools' },
      { flags: '--replay <dir>', description: 'replay a recording; a missing answer is an error' },
      { flags: '--no-console', description: 'without the web console' },
    ],
    examples: ['svc dev', 'svc dev --port 0 --json'],
    ...printsLines('a line each', readyAnswer, reloadAnswer, diagnosticLine),
    exits: { 6: 'port taken' },
    drains: true,
    load: async () => (await import('../commands/serve/dev.ts')).dev,
  },
  {
    path: 'serve',
    plane: 'server',
    summary: 'run the server for shared use',
    arguments: [{ name: '[bundles...]', description: 'published and deployed first' }],
    options: [
      ...listening,
      { flags: '--storage <url>', description: 's3://bucket[?endpoint=…] in place of the embedded storage' },
      {
        flags: '--log-format <format>',
        description: 'of the log on stderr; json by default',
        choices: ['json', 'pretty'],
      },
      {
        flags: '--otel',
        description: 'tell each ended session to the OpenTelemetry SDK that NODE_OPTIONS=--import loads',
      },
      {
        flags: '--admin-socket <path>',
        description: 'of the operator channel, instead of admin.sock in the data directory',
      },
    ],
    examples: ['svc serve', 'svc serve --log-format pretty', 'svc serve --port 0 --data /var/lib/svc --json'],
    ...printsLines('one line', readyAnswer),
    exits: { 1: 'a bundle has errors', 6: 'port taken, or another server holds the directory' },
    drains: true,
    load: async () => (await import('../commands/serve/serve.ts')).serve,
  },
  {
    path: 'backup',
    plane: 'operator',
    summary: 'database and files in one archive; the server keeps running',
    arguments: [{ name: '[file]', description: 'svc-DATE.tgz by default; - writes to standard output' }],
    examples: ['svc backup', 'svc backup svc-20261120.tgz --json'],
    ...printsDocument(backupAnswer),
    load: async () => (await import('../commands/serve/backup.ts')).backup,
  },
  {
    path: 'restore',
    plane: 'operator',
    summary: 'make a backup the data directory; its open runs and triggers are held',
    arguments: [{ name: '[file]', description: 'a backup; - reads standard input' }],
    options: [
      { flags: '--force', description: 'replace existing data' },
      { flags: '--plan', description: 'list what a restore holds, and what may repeat once it is released' },
      { flags: '--resume', description: 'release everything, or what the options name' },
      { flags: '--run <run>', description: 'with --plan or --resume: this run with its tree' },
      { flags: '--agent <agent>', description: 'with --plan or --resume: the runs of this agent, and its triggers' },
      { flags: '--trigger <trigger>', description: 'with --plan or --resume: this trigger' },
    ],
    examples: [
      'svc restore svc-20261120.tgz',
      'svc restore svc-20261120.tgz --data /var/lib/svc --force --yes',
      'svc restore --plan',
      'svc restore --resume --agent acme.refund-desk --yes',
    ],
    ...printsCases({ '': restoreAnswer, 'with --plan': restorePlan, 'with --resume': heldCounts }),
    exits: { 1: 'no backup, or a damaged one', 6: 'the directory is not empty, or a server holds it' },
    load: async () => (await import('../commands/serve/backup.ts')).restore,
  },
  {
    path: 'reset',
    plane: 'operator',
    summary: 'delete local state: runs, or everything',
    options: [
      { flags: '--runs', description: 'runs, their timelines and tasks (the default)' },
      { flags: '--all', description: 'everything: versions, triggers, keys and files too' },
    ],
    examples: ['svc reset --runs', 'svc reset --all --yes'],
    ...printsDocument(resetAnswer),
    exits: { 6: 'a server holds the directory' },
    load: async () => (await import('../commands/serve/backup.ts')).reset,
  },
]
