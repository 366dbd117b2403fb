// Writes src/documents/rules/generated/table.js: all lint rules by their ids, which are the paths of their modules.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../src/documents/rules', import.meta.url))
const generated = `${folder}/generated`

/** `agent/owner-missing` exports `agentOwnerMissing`. */
const exportOf = (id) => id.replaceAll(/[/-](\w)/g, (_, letter) => letter.toUpperCase())

const ids = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'generated')
  .flatMap(({ name: group }) =>
    readdirSync(`${folder}/${group}`).map((file) => `${group}/${file.replace(/\.ts$/, '')}`),
  )
  .sort()
for (const id of ids)
  if (!new RegExp(`^export const ${exportOf(id)}: LintRule`, 'm').test(readFileSync(`${folder}/${id}.ts`, 'utf8')))
    throw new Error(`src/documents/rules/${id}.ts has to export the rule ${exportOf(id)}.`)

const table = `${generated}/table.js`
const text = [
  ...ids.map((id) => `import { ${exportOf(id)} } from '../${id}.ts'`),
  'export const ruleTable = {',
  ...ids.map((id) => `  '${id}': ${exportOf(id)},`),
  '}\n',
].join('\n')
// Tests of another process may be reading it.
if (!existsSync(table) || readFileSync(table, 'utf8') !== text) writeFileSync(table, text)
