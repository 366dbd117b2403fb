/** Files of tests: `*.scenario.yaml` and `*.policytest.yaml`. Source: docs/design/command-line.md#tests */
import { fromJson } from '../../base/json/typed-json.ts'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fail, type Failure } from '../../base/failure.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import { createSpans, type DocumentSpans } from '../text/document.ts'
import { readYaml } from '../text/yaml.ts'
import { decodeUtf8 } from '../text/decode.ts'
import { loadWorkspace } from './load.ts'
import { checkShape } from './shape.ts'

type TestFileKind = 'scenario' | 'policytest'

const PATTERNS: Readonly<Record<TestFileKind, RegExp>> = {
  scenario: /\.scenario\.ya?ml$/,
  policytest: /\.policytest\.ya?ml$/,
}

/** True for a file that holds policy tests. */
export const isPolicyTest = (path: string): boolean => PATTERNS.policytest.test(path)

/**
 * Test files at the paths. A path to a file is taken whatever its name; in directories the name decides, without
 * `node_modules` and dot directories.
 * @throws Failure `not_found`, `no_documents` where the directories hold nothing of svc at all
 */
export async function findTestFiles(kind: TestFileKind, paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of paths) {
    const stats = await stat(path).catch(() => undefined)
    if (!stats) throw fail('not_found', { what: path })
    found.push(...(stats.isDirectory() ? await filesBelow(path, PATTERNS[kind]) : [path]))
  }
  if (found.length === 0) throw await failWithoutTests(kind, paths)
  return [...new Set(found)]
}

async function failWithoutTests(kind: TestFileKind, directories: readonly string[]): Promise<Failure> {
  const workspaces = await Promise.all(directories.map((each) => loadWorkspace(each)))
  if (workspaces.every(({ documents, findings }) => documents.length + findings.length === 0))
    return fail('no_documents', { where: directories.join(', ') })
  const what = kind === 'scenario' ? 'scenario' : 'policy test'
  return fail('not_found', { what }, { fix: `Write one as NAME.${kind}.yaml; svc schema ${kind} shows its format.` })
}

/** Files whose names match, sorted. */
async function filesBelow(directory: string, pattern: RegExp): Promise<string[]> {
  const entries = (await readdir(directory, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  const found: string[] = []
  for (const entry of entries) {
    const path = join(directory, entry.name)
    if (entry.isFile() && pattern.test(entry.name)) found.push(path)
    else if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
      found.push(...(await filesBelow(path, pattern)))
  }
  return found
}

export interface ReadTestFile<T> {
  /** One per YAML document. */
  readonly tests: readonly T[]
  /** An error among them means that `tests` is empty. */
  readonly findings: readonly Diagnostic[]
}

/** @param check what the schema of the kind does not cover */
export function readTestFile<T extends object>(
  kind: TestFileKind,
  text: string,
  path: string,
  check: (test: T, file: DocumentSpans) => readonly Diagnostic[],
): ReadTestFile<T> {
  const { source, findings } = decodeUtf8({ path, text })
  if (source === undefined) return { tests: [], findings }
  const reading = readYaml(source)
  findings.push(...reading.findings)
  const tests: T[] = []
  for (const root of reading.roots) {
    const file = createSpans(source, root)
    const shapeFindings = checkShape(kind, file)
    findings.push(...shapeFindings)
    if (shapeFindings.length > 0) continue
    // `checkShape` validated the type.
    const test = fromJson<T>(root.value)
    findings.push(...check(test, file))
    tests.push(test)
  }
  return { tests: findings.some(({ severity }) => severity === 'error') ? [] : tests, findings }
}
