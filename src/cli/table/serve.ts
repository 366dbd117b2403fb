/** Commands that serve. */
import type { CommandEntry, OptionSpec } from '../shell/command.ts'
import {
  backupAnswer,
  copyAnswer,
  diagnosticLine,
  loginAnswer,
  logoutAnswer,
  migrateAnswer,
  readyAnswer,
  reloadAnswer,
  reopenedAnswer,
  resetAnswer,
  restoreAnswer,
  serverLoginAnswer,
  serverLogoutAnswer,
} from '../answers/serve.ts'
import { printsAnswer, printsCases, printsDocument, printsLines } from '../answers/prints.ts'
import { answerSchema } from '../../operations/operations.ts'

const listening: readonly OptionSpec[] = [
  { flags: '--port <n>', description: 'port of the API, 0 for a free one; uploads take the next' },
  { flags: '--host <address>', description: 'address to listen on; 127.0.0.1 by default' },
  { flags: '--allow-remote', description: 'permit an address that other machines reach' },
  { flags: '--offline', description: 'replace every model by auto, except scripted ones' },
]

const serverToSignIn = {
  name: '[server]',
  description: 'address of its operator listener; that of --url, SVC_HOST, the profile or the project by default',
}

const loginServer = {
  name: '[server]',
  description: 'name or address of an MCP server; the only one that takes a login by default',
}
const agentOfServer: OptionSpec = { flags: '--agent <agent>', description: 'the server of this agent' }

const OTEL = {
  flags: '--otel',
  description: 'export traces, metrics and logs over OTLP; variables OTEL_* say where to',
}

const doors: readonly OptionSpec[] = [
  { flags: '--openai', description: "OpenAI's interfaces over the agents, on /compat/openai/v1" },
  { flags: '--ag-ui', description: 'AG-UI over the agents, on /ag-ui/{agent}' },
]

export const serveCommands: readonly CommandEntry[] = [
  {
    path: 'dev',
    aliases: ['up'],
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
      { flags: '--open', description: 'open the web console in a browser' },
      ...doors,
      OTEL,
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
      { flags: '--store <url>', description: 'postgres://… that several servers share (SVC_STORE)' },
      { flags: '--storage <url>', description: 's3://bucket[?endpoint=…] in place of the embedded storage' },
      { flags: '--internal <address>', description: '[host:]port of GET /v1/readyz, for balancers (SVC_INTERNAL)' },
      { flags: '--console', description: 'operators sign in at an address of their own, with the web console' },
      {
        flags: '--log-format <format>',
        description: 'of the log on stderr; json by default',
        choices: ['json', 'pretty'],
      },
      ...doors,
      OTEL,
      {
        flags: '--admin-socket <path>',
        description: 'of the operator channel, instead of admin.sock in the data directory',
      },
    ],
    examples: [
      'svc serve',
      'svc serve --log-format pretty',
      'svc serve --port 0 --data /var/lib/svc --json',
      'svc serve --store postgres://svc@db/svc --storage s3://files',
    ],
    ...printsLines('one line', readyAnswer),
    exits: {
      1: 'a bundle has errors',
      6: 'port taken, or another server holds the directory',
      8: 'the database cannot be reached',
    },
    drains: true,
    load: async () => (await import('../commands/serve/serve.ts')).serve,
  },
  {
    path: 'mcp',
    plane: 'client',
    summary: 'offer agents as MCP tools on stdin and stdout',
    options: [
      { flags: '--tools <agent>', description: 'offer the tools of this agent instead; its provider is external' },
      {
        flags: '--conversation <name>',
        description: 'go on with this conversation, with --tools; a new one by default',
      },
      { flags: '--hold <seconds>', description: 'how long a call waits for its outcome, with --tools; 25 by default' },
    ],
    examples: [
      'svc mcp',
      'svc mcp --tools acme.desk',
      'svc mcp -C my-project',
      'svc mcp --url https://agents.example.com --key-file key',
    ],
    exits: { 4: 'the key is refused', 8: 'no server answers' },
    drains: true,
    load: async () => (await import('../commands/serve/mcp.ts')).mcp,
  },
  {
    path: 'mcp login',
    plane: 'offline',
    summary: 'consent, in a browser, that svc uses a hosted MCP server',
    arguments: [loginServer],
    options: [
      agentOfServer,
      { flags: '--port <n>', description: 'port on 127.0.0.1 to which the browser comes back; a free one by default' },
      { flags: '--no-open', description: 'print the address and open no browser' },
    ],
    examples: ['svc mcp login crm', 'svc mcp login crm --no-open --port 8976'],
    ...printsDocument(loginAnswer),
    exits: { 4: 'no consent was given', 6: 'port taken' },
    load: async () => (await import('../commands/serve/mcp-login.ts')).mcpLogin,
  },
  {
    path: 'mcp logout',
    plane: 'offline',
    summary: 'forget a login to an MCP server, and take the consent back',
    arguments: [loginServer],
    options: [agentOfServer],
    examples: ['svc mcp logout crm', 'svc mcp logout crm --agent acme.desk --json'],
    ...printsDocument(logoutAnswer),
    load: async () => (await import('../commands/serve/mcp-login.ts')).mcpLogout,
  },
  {
    path: 'store migrate',
    plane: 'offline',
    summary: 'bring the tables of a PostgreSQL database to this version',
    options: [
      { flags: '--store <url>', description: 'postgres://user:password@host:5432/database (SVC_STORE)' },
      { flags: '--claim', description: 'the database is of this workspace and bucket from now on' },
      { flags: '--storage <url>', description: 's3://bucket[?endpoint=…] that --claim names' },
    ],
    examples: ['svc store migrate', 'svc store migrate --store postgres://svc@db/svc'],
    ...printsDocument(migrateAnswer),
    exits: { 4: 'a right is missing', 6: 'another program or a newer svc wrote it', 8: 'it cannot be reached' },
    load: async () => (await import('../commands/serve/store.ts')).migrate,
  },
  {
    path: 'store copy',
    plane: 'offline',
    summary: 'move everything from SQLite to PostgreSQL, or back',
    arguments: [
      { name: '<from>', description: 'sqlite:[directory] or postgres://user@host/database' },
      { name: '[to]', description: 'an empty one, in the same words' },
    ],
    options: [
      { flags: '--storage <url>', description: 's3://bucket[?endpoint=…] of the PostgreSQL side' },
      { flags: '--reopen', description: 'allow <from> to be served again, after its copy was discarded' },
    ],
    examples: [
      'svc store copy sqlite: postgres://svc@db/svc --storage s3://desk-files',
      'svc store copy postgres://svc@db/svc sqlite:/var/lib/svc',
      'svc store copy --reopen sqlite:',
    ],
    ...printsCases({ '': copyAnswer, 'with --reopen': reopenedAnswer }),
    exits: {
      4: 'a right is missing',
      5: 'no such store',
      6: 'it is served, not empty, or was moved already',
      8: 'it cannot be reached',
    },
    load: async () => (await import('../commands/serve/store-copy.ts')).copy,
  },
  {
    path: 'workers list',
    plane: 'operator',
    summary: 'list the server processes of the store',
    examples: ['svc workers list', 'svc workers list --json --jq ".items[].workerId"'],
    ...printsAnswer('GET /workers'),
    load: async () => (await import('../commands/serve/workers.ts')).workersList,
  },
  {
    path: 'workers drain',
    plane: 'operator',
    summary: 'let a server process hand over its runs and end',
    arguments: [{ name: '<worker>', description: 'id or unique ending' }],
    options: [{ flags: '--detach', description: 'do not wait until it has ended' }],
    examples: ['svc workers drain 5e2c11', 'svc workers drain 5e2c11 --detach'],
    ...printsAnswer('POST /workers/:id/drain'),
    exits: { 5: 'no such process' },
    load: async () => (await import('../commands/serve/workers.ts')).workersDrain,
  },
  {
    path: 'console',
    plane: 'operator',
    summary: 'print an address that signs a browser in to the web console',
    options: [
      { flags: '--open', description: 'open it in a browser' },
      { flags: '--sessions', description: 'list the browsers that are signed in, or were' },
      { flags: '--end <session>', description: 'sign a browser out: id or unique ending' },
      { flags: '--end-all <person>', description: 'sign a person out everywhere, of svc login too' },
    ],
    examples: [
      'svc console',
      'svc console --open',
      'svc console --sessions --json',
      'svc console --end 5e2c11',
      'svc console --end-all ana@acme.example',
    ],
    ...printsCases({
      '': answerSchema('POST /console/codes'),
      'with --sessions': answerSchema('GET /console/sessions'),
      'with --end': answerSchema('POST /console/sessions/:id/end'),
      'with --end-all': answerSchema('POST /console/sign-out'),
    }),
    exits: { 5: 'no such session', 6: 'no console is open' },
    load: async () => (await import('../commands/serve/console.ts')).printConsoleAddress,
  },
  {
    path: 'login',
    plane: 'offline',
    summary: "sign in to a server at its identity provider, for operators' commands",
    arguments: [serverToSignIn],
    options: [
      { flags: '--port <n>', description: 'port on 127.0.0.1 to which the browser comes back; a free one by default' },
      { flags: '--no-open', description: 'print the address and open no browser' },
      {
        flags: '--device',
        description: 'sign in with a browser on another machine, where server and provider allow it',
      },
    ],
    examples: ['svc login https://console.acme.example', 'svc login --profile production --no-open'],
    ...printsDocument(serverLoginAnswer),
    exits: { 4: 'nobody was signed in', 6: 'the server has no provider, or port taken', 8: 'it does not answer' },
    load: async () => (await import('../commands/serve/login.ts')).login,
  },
  {
    path: 'logout',
    plane: 'offline',
    summary: 'end the session of svc login with a server',
    arguments: [serverToSignIn],
    examples: ['svc logout https://console.acme.example', 'svc logout --profile production --json'],
    ...printsDocument(serverLogoutAnswer),
    exits: { 8: 'no server is named or running' },
    load: async () => (await import('../commands/serve/login.ts')).logout,
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
    summary: 'make a backup the data directory; it sends nothing until its release',
    arguments: [{ name: '[file]', description: 'a backup; - reads standard input' }],
    options: [
      { flags: '--force', description: 'replace existing data' },
      { flags: '--plan', description: 'list what a restore holds, and the calls that a release may repeat' },
      { flags: '--resume', description: 'release everything, or the part that the options name' },
      { flags: '--run <run>', description: 'with --plan or --resume: this run with its tree' },
      { flags: '--agent <agent>', description: 'with --plan or --resume: the runs of this agent, and its triggers' },
      { flags: '--trigger <trigger>', description: 'with --plan or --resume: this trigger' },
      {
        flags: '--ask-for <duration>',
        description:
          'with --resume: how long calls ask a person that may have been made after the backup (7d; 0 = not at all)',
      },
      {
        flags: '--happened <file>',
        description:
          'with --resume: effect keys, one a line, of calls that are known to have been made after the backup',
      },
    ],
    examples: [
      'svc restore svc-20261120.tgz',
      'svc restore svc-20261120.tgz --data /var/lib/svc --force --yes',
      'svc restore --plan',
      'svc restore --resume --agent acme.refund-desk --yes',
      'svc restore --resume --happened paid.txt --ask-for 30d',
    ],
    ...printsCases({
      '': restoreAnswer,
      'with --plan': answerSchema('GET /restored'),
      'with --resume': answerSchema('POST /restored/release'),
    }),
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
