// Builds the package of the client library (clients/typescript) into the directory that is named, or its own dist: a module for
// ESM and one for CommonJS, and one file of declarations for both.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const home = join(root, 'clients/typescript')

/** A declaration at the top level of a file, with its comment; all but `text` are names. */
const TOP_LEVEL =
  /^(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/\n)?(?:export )?(?:declare )?(?:interface|type|class|const|function) (\w+)/gm

/** The declarations of a file, without its imports. */
function declarationsOf(text) {
  const starts = [...text.matchAll(TOP_LEVEL)]
  return starts.map((match, at) => {
    const whole = text.slice(match.index, starts[at + 1]?.index ?? text.length)
    // What follows a declaration and is none: imports, and the mark of a module.
    const own = whole.replace(/^(?:import|export) (?:type )?[{*][^\n]*$/gm, '').trimEnd()
    return { name: match[1], text: own.replace(/^export (?=declare|interface|type)/m, '') }
  })
}

/** Names that `index.d.ts` exports, as `name` or `type name`. */
function exportsOf(index, filesByPath) {
  const lists = [...index.matchAll(/export (type )?\{([^}]*)\} from/g)].flatMap(([, type = '', names]) =>
    names.split(',').flatMap((name) => (name.trim() === '' ? [] : [type + name.trim()])),
  )
  const wholes = [...index.matchAll(/export type \* from '\.\/([^']+)\.(?:js|ts)'/g)].flatMap(([, path]) =>
    filesByPath.get(path).map(({ name }) => `type ${name}`),
  )
  return [...lists, ...wholes]
}

/**
 * All declarations that users reach, in one text. Each name is declared once in the package, which the compiler checks when the
 * text is used.
 */
function writeDeclarations() {
  const out = mkdtempSync(join(tmpdir(), 'svc-client-'))
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const args = [tsc, '-p', join(home, 'tsconfig.build.json'), '--outDir', out]
    const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
    const files = new Map()
    const read = (path) => {
      if (files.has(path)) return
      const text = readFileSync(join(out, `${path}.d.ts`), 'utf8')
      files.set(path, declarationsOf(text))
      const folder = path.includes('/') ? path.replace(/[^/]+$/, '') : ''
      for (const [, next] of text.matchAll(/from '\.\/([^']+)\.(?:js|ts)'/g)) read(folder + next)
    }
    read('index')
    const exported = exportsOf(readFileSync(join(out, 'index.d.ts'), 'utf8'), files)
    const declared = new Map([...files.values()].flat().map((each) => [each.name, each.text]))
    const reached = new Set()
    const reach = (name) => {
      if (reached.has(name)) return
      reached.add(name)
      for (const [word] of declared
        .get(name)
        .replaceAll(/\/\*\*(?:[^*]|\*(?!\/))*\*\//g, '')
        .matchAll(/\b\w+\b/g))
        if (declared.has(word)) reach(word)
    }
    for (const each of exported) reach(each.replace(/^type /, ''))
    const texts = [...declared].filter(([name]) => reached.has(name)).map(([, text]) => text)
    return `${texts.join('\n')}\nexport { ${exported.join(', ')} };\n`
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

export async function buildClient(out) {
  mkdirSync(out, { recursive: true })
  for (const [format, name] of [
    ['esm', 'index.js'],
    ['cjs', 'index.cjs'],
  ])
    await build({
      entryPoints: [join(home, 'src/index.ts')],
      outfile: join(out, name),
      bundle: true,
      format,
      // Names the exports of the CommonJS module for those who import it from ESM; nothing of Node is used.
      platform: format === 'cjs' ? 'node' : 'neutral',
      target: 'es2022',
      external: ['eventsource-parser'],
      legalComments: 'none',
      logLevel: 'warning',
      minify: true,
      // Node shows the line of an error that nobody caught.
      lineLimit: 120,
    })
  writeFileSync(join(out, 'index.d.cts'), writeDeclarations())
  // An ES module may name what a CommonJS module declares, not the other way round.
  writeFileSync(join(out, 'index.d.ts'), "export * from './index.cjs';\n")
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await buildClient(resolve(process.argv[2] ?? join(home, 'dist')))
