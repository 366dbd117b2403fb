// Builds dist/: the command line, which bin/svc.js starts, the libraries, and the notices of what is bundled. `npm ci` does that
// (prepare). --types adds what a package holds beside it: declarations, and the client package (`npm pack`, and before the tests).
// Tests add --failpoints: the same command line in dist/failpoints, with the places at which it can be made to die
// (src/base/failpoint.ts). --if-changed: nothing is done where the sources are those of the last build.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { EXTERNAL } from './external.js'
import { buildClient } from './client.js'
import { bundledLibraries, noticesOf } from './notices.js'
import { bundledParts } from './sbom.js'

const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)
const { name, version, private: isPrivate } = JSON.parse(readFileSync('package.json', 'utf8'))
// While the package is private no registry has it, and projects name the archive that `npm pack` writes.
const specifier = isPrivate ? `file:${name.slice(1).replace('/', '-')}-${version}.tgz` : version
const [types, failpoints, ifChanged] = ['--types', '--failpoints', '--if-changed'].map((each) =>
  process.argv.includes(each),
)

const run = async (file, ...args) => {
  const [status] = await once(spawn(process.execPath, [file, ...args], { stdio: 'inherit' }), 'exit')
  if (status !== 0) process.exit(status ?? 1)
}

/** Regular files below a directory, relative to it. */
const filesIn = (directory) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(directory.length + 1))
    .sort()

/** Says what the build is made of, but for what is generated, which follows from the rest. */
const digestOfInputs = () => {
  const hash = createHash('sha256').update(process.version)
  const sources = ['src', 'clients/typescript/src', 'schemas', 'scripts', 'bin', 'test/documents/rules'].flatMap(
    (room) => filesIn(room).map((file) => join(room, file)),
  )
  const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
  for (const file of [
    ...sources,
    ...settings,
    ...settings.map((each) => `clients/typescript/${each}`).filter((each) => existsSync(each)),
  ])
    if (!file.includes('/generated/')) hash.update(`${file}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

const BUILT = 'dist/.built'
const inputs = digestOfInputs()
/** A build that has more serves as well. */
const isBuilt = () => {
  if (!existsSync(BUILT)) return false
  const built = readFileSync(BUILT, 'utf8').split(' ')
  const wanted = [inputs, ...(types ? ['types'] : []), ...(failpoints ? ['failpoints'] : [])]
  return wanted.every((each) => built.includes(each))
}
const isWhole = [
  'src/documents/generated/rule-examples.js',
  'src/documents/rules/generated/table.js',
  ...(types ? ['clients/typescript/dist/index.d.ts'] : []),
]
if (ifChanged && isBuilt() && isWhole.every((each) => existsSync(each))) process.exit(0)

// None of them reads what another one writes.
const generated = Promise.all([
  run('scripts/openapi.js', ...(types ? ['--types'] : [])),
  run('scripts/validators.js'),
  import('./rule-examples.js'),
  import('./rule-table.js'),
])

/** Where all is written first: what runs meanwhile never sees half a build. */
const out = `dist-${process.pid}`
process.on('exit', () => rmSync(out, { recursive: true, force: true }))

/** The bundler reads all other modules while these are written. */
const waitForGenerated = {
  name: 'wait for generated',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\..*\/generated\// }, async () => {
      await generated
    }),
}

const common = {
  bundle: true,
  metafile: true,
  plugins: [waitForGenerated],
  target: 'node20.19',
  logLevel: 'warning',
  define: {
    SVC_VERSION: JSON.stringify(version),
    SVC_SPECIFIER: JSON.stringify(specifier),
    SVC_FAILPOINTS: 'false',
  },
  legalComments: 'none',
  // Half the bytes to read at every start. Names stay, for the stacks of crash reports.
  minifyWhitespace: true,
  minifySyntax: true,
}

const program = {
  ...common,
  platform: 'node',
  // Bundled: what every start needs.
  external: EXTERNAL,
}

/** Modules behind `import()` become files of their own: a command reads and compiles no more than it uses. */
async function buildProgram(directory, entryPoints, define) {
  const { metafile } = await build({
    ...program,
    define,
    format: 'esm',
    splitting: true,
    entryPoints,
    outdir: directory,
    chunkNames: 'chunks/[name]-[hash]',
    // CommonJS packages in the bundle call `require` for Node's own modules.
    banner: {
      js: "import { createRequire as svcCreateRequire } from 'node:module'; const require = svcCreateRequire(import.meta.url);",
    },
  })
  cpSync('src/store/sqlite/migrations', `${directory}/migrations`, { recursive: true })
  cpSync('src/store/postgres/migrations', `${directory}/postgres-migrations`, { recursive: true })
  return metafile
}

const start = 'src/cli/start.ts'
const ofProgram = await buildProgram(out, { start, index: 'src/index.ts' }, common.define)
// The program of the thread that checks values: it needs nothing but a schema compiler, and no stack of it is ever shown.
const { metafile: ofWorker } = await build({
  ...program,
  minify: true,
  format: 'cjs',
  entryPoints: { 'check-worker': 'src/tools/check/check-worker.ts' },
  outExtension: { '.js': '.cjs' },
  outdir: out,
})
const { metafile: ofClient } = await build({
  ...common,
  format: 'esm',
  entryPoints: { client: 'clients/typescript/src/index.ts' },
  outdir: out,
  // Node shows the line of an error that nobody caught: it must be one that can be read.
  minifyWhitespace: false,
  minifySyntax: false,
  platform: 'neutral',
  mainFields: ['module', 'main'],
})
// The page of the console. Screens behind `import()` are loaded when they are opened.
const { metafile: ofConsole } = await build({
  bundle: true,
  metafile: true,
  minify: true,
  splitting: true,
  format: 'esm',
  platform: 'browser',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  logLevel: 'warning',
  legalComments: 'none',
  // In place of the automatic runtime of tsconfig.json, which outweighs these options (`src/console/jsx.ts`).
  tsconfigRaw: {},
  jsx: 'transform',
  jsxFactory: 'h',
  jsxFragment: 'Fragment',
  inject: ['src/console/jsx.ts'],
  entryPoints: { console: 'src/console/main.ts', style: 'src/console/style/console.css' },
  entryNames: '[name]',
  chunkNames: '[name]-[hash]',
  outdir: `${out}/console`,
})
cpSync('src/console/index.html', `${out}/console/index.html`)
const libraries = bundledLibraries([ofProgram, ofWorker, ofClient, ofConsole], root)
writeFileSync(`${out}/THIRD-PARTY-NOTICES.txt`, noticesOf(libraries))
writeFileSync(`${out}/sbom.cdx.json`, `${JSON.stringify(bundledParts({ name, version }, libraries))}\n`)

if (failpoints) {
  await buildProgram(`${out}/failpoints`, { start }, { ...common.define, SVC_FAILPOINTS: 'true' })
  writeFileSync(`${out}/failpoints/svc.js`, readFileSync('bin/svc.js', 'utf8').replace('../dist/', './'))
}
if (types) {
  buildClient('clients/typescript/dist')
  await run('scripts/declarations.js', `${out}/types`)
  cpSync('clients/typescript/dist', `${out}/types/client`, {
    recursive: true,
    filter: (path) => !/\.js(?:\.map)?$/.test(path),
  })
}
writeFileSync(
  join(out, basename(BUILT)),
  [inputs, ...(types ? ['types'] : []), ...(failpoints ? ['failpoints'] : [])].join(' '),
)

// File by file, and what names the others last.
const isLast = (file) => Number(/(?:^|\/)(?:start\.js|index\.js|\.built)$/.test(file))
const built = filesIn(out).sort((a, b) => isLast(a) - isLast(b))
for (const file of built) {
  mkdirSync(dirname(join('dist', file)), { recursive: true })
  renameSync(join(out, file), join('dist', file))
}
for (const file of filesIn('dist')) if (!built.includes(file)) rmSync(join('dist', file), { force: true })
