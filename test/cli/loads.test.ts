/** What a command loads before it does anything: each package costs every start of it. Source: docs/design/command-line.md#start-time */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

/** Packages and files that are imported, not those of `import()` and of types. */
function staticImports(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)'/gm)].map(([, name]) => name!)
}

/** Packages that are evaluated with a file, and all files of ours on the way. */
function loadedBy(...entries: readonly string[]): { readonly packages: string[]; readonly files: ReadonlySet<string> } {
  const packages = new Set<string>()
  const files = new Set(entries.map((entry) => join(ROOT, 'src', entry)))
  for (const file of files)
    for (const name of staticImports(file)) {
      if (name.startsWith('.')) {
        const target = resolve(dirname(file), name)
        if (existsSync(target)) files.add(target)
      } else if (!name.startsWith('node:')) packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(name)![0])
    }
  return { packages: [...packages].sort(), files }
}

/** What each start loads to read the command line. */
const LINE = ['cli/main.ts', 'cli/invoke.ts', 'cli/shell/process-io.ts']

test('--version loads nothing but itself', () => {
  const { packages, files } = loadedBy('cli/start.ts')
  expect(packages).toEqual([])
  const own = [
    'src/cli/start.ts',
    'src/cli/shell/compile-cache.ts',
    'src/cli/shell/lost-output.ts',
    'src/cli/shell/version.ts',
  ]
  expect([...files].map((file) => file.slice(ROOT.length + 1))).toEqual(own)
})

test('--help loads the parser of arguments', () => {
  expect(loadedBy(...LINE).packages).toEqual(['commander', 'fastest-levenshtein', 'std-env'])
})

test('lint loads neither a second parser, nor a schema compiler, nor the server', () => {
  expect(loadedBy(...LINE, 'cli/commands/author/lint.ts', 'cli/lint/lint-check.ts').packages).toEqual([
    'commander',
    'fastest-levenshtein',
    'ipaddr.js',
    'js-yaml',
    'semver',
    'std-env',
  ])
})

test('lint that has something to say loads colours', () => {
  const { packages } = loadedBy('documents/report/formats.ts')
  expect(packages).toContain('chalk')
  // Its tables of Unicode are read with the first text that is not ASCII.
  expect(packages).not.toContain('string-width')
})

test('fmt loads the parser that keeps comments', () => {
  expect(loadedBy('cli/commands/author/fmt.ts').packages).toContain('yaml')
})

test('a server loads neither providers nor storage, protocols, patterns or a log before they are needed', () => {
  expect(loadedBy('server/open.ts').packages).toEqual([
    'ajv',
    'ajv-formats',
    'croner',
    'eventsource-parser',
    'h3',
    'ipaddr.js',
    'semver',
  ])
})

test.each(['serve/dev', 'serve/serve', 'drive/run'])(
  '%s loads no provider, storage or protocol before it is needed',
  (name) => {
    const { packages } = loadedBy(...LINE, `cli/commands/${name}.ts`)
    const heavy = [
      '@anthropic-ai/sdk',
      '@aws-sdk/client-s3',
      '@aws-sdk/s3-request-presigner',
      '@inquirer/prompts',
      '@modelcontextprotocol/client',
      'chokidar',
      'execa',
      'jq-wasm',
      'listhen',
      'openai',
      'pino',
      'vscode-languageserver',
      'yaml',
    ]
    expect(packages.filter((each) => heavy.includes(each))).toEqual([])
  },
)
