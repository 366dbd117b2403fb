// Builds dist/: the command line in lazily loaded chunks and the client library as one file; with --types declarations
// beside them. Runs on `npm ci` and `npm pack` (prepare), and before the tests, which add --failpoints: the same command line in
// dist/failpoints, with the places at which it can be made to die (src/base/failpoint.ts).
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

const run = (file, ...args) => {
  const { status } = spawnSync(process.execPath, [file, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

run('scripts/validators.js')
run('scripts/openapi.js')
rmSync('dist', { recursive: true, force: true })

const common = {
  bundle: true,
  format: 'esm',
  target: 'node20.19',
  logLevel: 'warning',
  define: { SVC_VERSION: JSON.stringify(version), SVC_FAILPOINTS: 'false' },
  legalComments: 'none',
  // Half the bytes to read at every start. Names stay, for the stacks of crash reports.
  minifyWhitespace: true,
  minifySyntax: true,
}

const program = {
  ...common,
  splitting: true,
  platform: 'node',
  chunkNames: 'chunks/[name]-[hash]',
  // Bundled: what every start needs. Left outside: native code, and what is large and loaded on first use.
  external: [
    'better-sqlite3',
    'openai',
    '@anthropic-ai/sdk',
    '@aws-sdk/*',
    '@smithy/*',
    '@modelcontextprotocol/*',
    '@inquirer/prompts',
    'ora',
    'listhen',
    'pino',
    'execa',
    'jq-wasm',
    'chokidar',
    're2js',
    'vscode-languageserver',
    'croner',
  ],
  // CommonJS packages in the bundle call `require` for Node's own modules.
  banner: {
    js: "import { createRequire as svcCreateRequire } from 'node:module'; const require = svcCreateRequire(import.meta.url);",
  },
}
await build({ ...program, entryPoints: { cli: 'src/cli/main.ts', index: 'src/index.ts' }, outdir: 'dist' })

await build({
  ...common,
  entryPoints: { client: 'src/client/index.ts' },
  outdir: 'dist',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  external: ['node:*'],
})

cpSync('src/store/sqlite/migrations', 'dist/migrations', { recursive: true })
if (process.argv.includes('--failpoints')) {
  const define = { ...common.define, SVC_FAILPOINTS: 'true' }
  await build({ ...program, define, entryPoints: { cli: 'src/cli/main.ts' }, outdir: 'dist/failpoints' })
  cpSync('src/store/sqlite/migrations', 'dist/failpoints/migrations', { recursive: true })
  writeFileSync('dist/failpoints/svc.js', readFileSync('bin/svc.js', 'utf8').replace('../dist/cli.js', './cli.js'))
}
if (process.argv.includes('--types')) run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json')
run('scripts/types.js')
