// Writes src/documents/generated/rule-examples.js: the examples of the rules, which `svc explain` shows. They are
// read from test/documents/rules, where `test/documents/rule-folders.ts` describes the folders.
import { isUtf8 } from 'node:buffer'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../test/documents/rules', import.meta.url))
const generated = fileURLToPath(new URL('../src/documents/generated', import.meta.url))

/** Bytes that are not UTF-8 are shown as escapes. */
const shownText = (bytes) =>
  isUtf8(bytes)
    ? bytes.toString()
    : bytes
        .toString('latin1')
        .replaceAll(/[\x80-\xFF]/g, (char) => `\\x${char.charCodeAt(0).toString(16).toUpperCase()}`)

const shownFile = (path) =>
  lstatSync(path).isSymbolicLink() ? `(symbolic link to ${readlinkSync(path)})\n` : shownText(readFileSync(path))

/** Texts by path: of `bad.yaml`, or of the files in `bad/`, whose names are percent-decoded. */
function readExample(rule, name) {
  const file = join(root, rule, `${name}.yaml`)
  if (existsSync(file)) return { [`${name}.yaml`]: shownFile(file) }
  const folder = join(root, rule, name)
  const files = readdirSync(folder, { recursive: true })
    .map((path) => join(folder, path))
    .filter((path) => !lstatSync(path).isDirectory())
  return Object.fromEntries(
    files.sort().map((path) => [decodeURIComponent(relative(folder, path)).replaceAll(sep, '/'), shownFile(path)]),
  )
}

const ids = readdirSync(root)
  .flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`))
  .sort()
const examples = Object.fromEntries(
  ids.map((id) => [
    id,
    {
      bad: readExample(id, 'bad'),
      output: readFileSync(join(root, id, 'output.txt'), 'utf8'),
      good: readExample(id, 'good'),
    },
  ]),
)

mkdirSync(generated, { recursive: true })
writeFileSync(join(generated, 'rule-examples.js'), `export const ruleExamples = ${JSON.stringify(examples, null, 1)}\n`)
writeFileSync(
  join(generated, 'rule-examples.d.ts'),
  `/** Texts by path. */
type ExampleFiles = Readonly<Record<string, string>>
export interface RuleExamples {
  readonly bad: ExampleFiles
  /** What \`svc lint\` prints for the bad example. */
  readonly output: string
  readonly good: ExampleFiles
}
/** By the id of the rule. */
export declare const ruleExamples: Readonly<Record<string, RuleExamples>>
`,
)
