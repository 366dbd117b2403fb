// Writes docs/rules.md, the list of all rules. `test/documents/rule-index.test.ts` fails when it is out of date.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import './rule-table.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const { outputFiles } = await build({
  stdin: {
    contents: `export { ruleIndex } from './src/documents/lint/rule-index.ts'
      export { rules } from './src/documents/rules/index.ts'`,
    resolveDir: root,
    loader: 'ts',
  },
  bundle: true,
  format: 'esm',
  platform: 'node',
  write: false,
  banner: {
    js: "import { createRequire as svcCreateRequire } from 'node:module'; const require = svcCreateRequire(import.meta.url);",
  },
})
const file = `${root}/dist/.rules.mjs`
mkdirSync(`${root}/dist`, { recursive: true })
writeFileSync(file, outputFiles[0].text)
const { ruleIndex, rules } = await import(file)
rmSync(file)
writeFileSync(`${root}/docs/rules.md`, ruleIndex(rules))
