// Builds dist/: the command line as one file that bin/svc.js starts, and the libraries; with --types declarations beside
// them. Runs on `npm ci` and `npm pack` (prepare), and before the tests, which add --failpoints: the same command line in
// dist/failpoints, with the places at which it can be made to die (src/base/failpoint.ts), and --if-changed: nothing is
// done where the sources are those of the last build.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { rewrites } from './rewrites.js'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const [types, failpoints, ifChanged] = ['--types', '--failpoints', '--if-changed'].map((each) =>
  process.argv.includes(each),
)

const run = (file, ...args) => {
  const { status } = spawnSync(process.execPath, [file, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** Regular files below a directory, relative to it. */
const filesIn = (directory) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(directory.length + 1))
    .sort()

/** Says what the build is made of. What is generated follows from the rest. */
const digestOfInputs = () => {
  const hash = createHash('sha256').update(JSON.stringify([types, failpoints, process.version]))
  const sources = ['src', 'schemas', 'scripts', 'bin'].flatMap((room) => filesIn(room).map((file) => join(room, file)))
  for (const file of [...sources, 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'])
    if (!file.includes('/generated/')) hash.update(`${file}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

const BUILT = 'dist/.built'
const inputs = digestOfInputs()
const isBuilt = existsSync(BUILT) && readFileSync(BUILT, 'utf8') === inputs
if (ifChanged && isBuilt && existsSync('src/documents/generated/validators.js')) process.exit(0)

run('scripts/validators.js')
run('scripts/openapi.js')

/** Where all is written first: what runs meanwhile never sees half a build. */
const out = `dist-${process.pid}`
process.on('exit', () => rmSync(out, { recursive: true, force: true }))

const common = {
  bundle: true,
  plugins: [rewrites],
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
  platform: 'node',
  // Bundled: what every start needs. Left outside: native code, and what is large and loaded on first use.
  external: [
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
    '@opentelemetry/api',
  ],
}

/**
 * The command line as CommonJS: one file is read and evaluated in a fraction of the time that Node's loader takes for a
 * graph of modules, and its compiled code can be kept (src/cli/start.ts). Modules behind `import()` are evaluated when they are asked for.
 */
async function buildScript(directory, name, source, define) {
  const { metafile, outputFiles } = await build({
    ...program,
    format: 'cjs',
    entryPoints: { [name]: source },
    outdir: directory,
    define: { ...define, 'import.meta.url': 'svcUrl' },
    banner: { js: "const svcUrl = require('node:url').pathToFileURL(__filename).href;" },
    metafile: true,
    write: false,
  })
  // A script that is not a module of its own cannot import: what starts it does so in its name.
  const packages = Object.values(metafile.outputs)[0].imports.filter(({ kind }) => kind === 'dynamic-import')
  const imported = packages.reduce(
    (code, { path }) => code.replaceAll(`import("${path}")`, `svcImport("${path}")`),
    outputFiles[0].text,
  )
  // It is read as Latin-1. esbuild escapes other letters in strings and leaves those in regular expressions.
  const text = imported.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const file = `${name}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.cjs`
  mkdirSync(directory, { recursive: true })
  writeFileSync(`${directory}/${file}`, text)
  return file
}

/** What starts it, and the program of the threads that help it. */
async function buildProgram(directory, define) {
  const [file, helper] = [
    await buildScript(directory, 'cli', 'src/cli/main.ts', define),
    await buildScript(directory, 'helper', 'src/cli/lint-helper.ts', define),
  ]
  await build({
    ...program,
    format: 'cjs',
    entryPoints: { start: 'src/cli/start.ts' },
    outExtension: { '.js': '.cjs' },
    outdir: directory,
    define: { ...define, SVC_PROGRAM: JSON.stringify(file), SVC_HELPER: JSON.stringify(helper) },
  })
  cpSync('src/store/sqlite/migrations', `${directory}/migrations`, { recursive: true })
}

await buildProgram(out, common.define)
await build({
  ...program,
  format: 'esm',
  splitting: true,
  entryPoints: { index: 'src/index.ts' },
  outdir: out,
  chunkNames: 'chunks/[name]-[hash]',
  // CommonJS packages in the bundle call `require` for Node's own modules.
  banner: {
    js: "import { createRequire as svcCreateRequire } from 'node:module'; const require = svcCreateRequire(import.meta.url);",
  },
})
await build({
  ...common,
  format: 'esm',
  entryPoints: { client: 'src/client/index.ts' },
  outdir: out,
  // Node shows the line of an error that nobody caught: it must be one that can be read.
  minifyWhitespace: false,
  platform: 'neutral',
  mainFields: ['module', 'main'],
})

if (failpoints) {
  await buildProgram(`${out}/failpoints`, { ...common.define, SVC_FAILPOINTS: 'true' })
  writeFileSync(`${out}/failpoints/package.json`, readFileSync('bin/package.json'))
  writeFileSync(`${out}/failpoints/svc.js`, readFileSync('bin/svc.js', 'utf8').replace('../dist/', './'))
}
if (types) run('scripts/declarations.js', `${out}/types`)
run('scripts/types.js', out)
writeFileSync(join(out, basename(BUILT)), inputs)

// File by file, and what names the others last.
const isLast = (file) => Number(/(?:^|\/)(?:start\.cjs|\.built)$/.test(file))
const built = filesIn(out).sort((a, b) => isLast(a) - isLast(b))
for (const file of built) {
  mkdirSync(dirname(join('dist', file)), { recursive: true })
  renameSync(join(out, file), join('dist', file))
}
// Compiled code that was kept is that of the program that its name begins with.
const programs = built.filter((file) => file.endsWith('.cjs')).map((file) => basename(file))
const isOfProgram = (file) => /(?:^|\/)code\//.test(file) && programs.some((name) => basename(file).startsWith(name))
for (const file of filesIn('dist'))
  if (!built.includes(file) && !isOfProgram(file)) rmSync(join('dist', file), { force: true })
