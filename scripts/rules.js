// Writes docs/rules.md and docs/rules/ from the rules and their examples (`scripts/rule-examples.js` collects them).
// `test/documents/rule-pages.test.ts` fails when a page is out of date.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import './rule-examples.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const { outputFiles } = await build({
  stdin: {
    contents: `export { rulePages } from './src/documents/lint/rule-pages.ts'
      export { rules } from './src/documents/rules/index.ts'
      export { ruleExamples } from './src/documents/generated/rule-examples.js'`,
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
const { rulePages, rules, ruleExamples } = await import(file)
rmSync(file)
rmSync(`${root}/docs/rules`, { recursive: true, force: true })
mkdirSync(`${root}/docs/rules`, { recursive: true })
for (const [path, text] of Object.entries(rulePages(rules, ruleExamples))) writeFileSync(`${root}/docs/${path}`, text)
