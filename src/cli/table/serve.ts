/** Commands that serve. Source: command line, 2. */
import type { CommandSpec, OptionSpec } from '../command.ts'

const listening: readonly OptionSpec[] = [
  { flags: '--port <n>', say: 'port of the API, 0 for a free one; uploads take the next' },
  { flags: '--host <address>', say: 'address to listen on; 127.0.0.1 by default' },
  { flags: '--allow-remote', say: 'permit an address that other machines reach' },
  { flags: '--offline', say: 'every model becomes auto, but scripted ones' },
]

export const serve: readonly CommandSpec[] = [
  {
    path: 'dev',
    group: 'Serve',
    plane: 'server',
    summary: 'serve, watch, and redeploy on every clean save',
    arguments: [{ name: '[path]', say: 'bundle, agent or directory; the project by default' }],
    options: [
      ...listening,
      { flags: '--no-watch', say: 'publish once' },
      { flags: '--ephemeral', say: 'forget everything at the end' },
      { flags: '--https', say: 'a second address with a certificate of its own' },
      { flags: '--qr', say: 'show the address as a code for a camera' },
      { flags: '--record <dir>', say: 'keep what models and tools answer' },
      { flags: '--replay <dir>', say: 'play what was kept; what was not is an error' },
      { flags: '--no-console', say: 'without the web console' },
    ],
    examples: ['svc dev', 'svc dev --port 0 --json'],
    json: 'a line each: {"type":"ready",url,uploadUrl,consoleUrl,pid}, {"type":"reload",…}, {"type":"diagnostic",…}',
    exits: { 6: 'port taken' },
    drains: true,
    load: async () => (await import('../commands/dev.ts')).dev,
  },
  {
    path: 'serve',
    group: 'Serve',
    plane: 'server',
    summary: 'run the server for shared use',
    arguments: [{ name: '[bundles...]', say: 'published and deployed first' }],
    options: listening,
    examples: ['svc serve', 'svc serve --port 0 --data /var/lib/svc --json'],
    json: 'one line: {"type":"ready",url,uploadUrl,consoleUrl,pid}',
    exits: { 1: 'a bundle has errors', 6: 'port taken, or another server holds the directory' },
    drains: true,
    load: async () => (await import('../commands/serve.ts')).serve,
  },
]
