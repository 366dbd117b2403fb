/** Reads a dataset: a case for each line of JSON. A broken line is named, and the others are read. Source: docs/design/evals.md#a-line */
import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { digestOf } from '../../base/digest.ts'
import { isFailure } from '../../base/failure.ts'
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import { decodeUtf8 } from '../../documents/text/decode.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import { createSpans, type DocumentSpans } from '../../documents/text/document.ts'
import { createSource } from '../../documents/text/source.ts'
import { readYaml } from '../../documents/text/yaml.ts'
import { checkShape, hasShape, type DocumentSchema } from '../../documents/workspace/shape.ts'
import { readCondition } from '../../policy/condition/condition.ts'
import { readMoney } from '../../spec/price.ts'
import { checkForeignSchema } from '../../tools/check/check.ts'
import { readUserFile } from '../files/read-file.ts'
import { ruleFindings } from '../../scenario/decisions.ts'
import { usageFailure } from '../../base/usage-failure.ts'
import {
  CHECK_NAMES,
  nameOfCheck,
  type EvalCase,
  type EvalCheck,
  type Rubric,
  type WrittenEvalCase,
} from './eval-case.ts'

/** Cases of a dataset. An evaluation of more takes hours, and is better split. */
export const MAX_CASES = 10_000
const MAX_LINE_BYTES = 1024 * 1024
const MAX_RUBRIC_BYTES = 20_000

export interface Dataset {
  readonly cases: readonly EvalCase[]
  readonly broken: readonly BrokenLine[]
}

export interface BrokenLine {
  /** From 1. */
  readonly line: number
  readonly message: string
}

/**
 * @param path absolute; rubric files are relative to its directory
 * @param named path as the user typed it
 * @param project directory in which rubric files may stand, beside that of the dataset
 * @throws Failure `usage` for a dataset without a line, or with more than `MAX_CASES`; `file_missing`, `file_unusable`
 */
export async function readDataset(path: string, named: string, project: string): Promise<Dataset> {
  const bytes = await readUserFile(path, named)
  const { source, findings } = decodeUtf8({ path: named, bytes })
  if (!source) throw usageFailure(`${named}: ${findings[0]?.message ?? 'the file is no text.'}`)
  const lines = source.text.split('\n').flatMap((text, at) => (text.trim() === '' ? [] : [{ text, line: at + 1 }]))
  if (lines.length === 0)
    throw usageFailure(
      `${named} has no case.`,
      'Write a line {"input": {…}} for each, or make some: svc eval from-runs.',
    )
  if (lines.length > MAX_CASES)
    throw usageFailure(`${named} has ${lines.length} lines; one evaluation takes ${MAX_CASES}.`, 'Split it.')
  const cases: EvalCase[] = []
  const broken: BrokenLine[] = []
  const readRubric = createRubricReader(dirname(path), project)
  let defaults: NonNullable<WrittenEvalCase['defaults']> = {}
  for (const { text, line } of lines) {
    const read = await readLine(text, line)
    if (typeof read === 'string') {
      broken.push({ line, message: read })
      continue
    }
    if (read.defaults) defaults = read.defaults
    const { defaults: _, input, ...rest } = read
    if (!input) continue
    const found = await withDefaults({ ...rest, input }, defaults, line, readRubric)
    if (typeof found === 'string') broken.push({ line, message: found })
    else cases.push(found)
  }
  if (cases.length + broken.length === 0) throw usageFailure(`${named} has no case, only defaults.`)
  return { cases, broken }
}

/** The line, or what is wrong with it. */
async function readLine(text: string, line: number): Promise<WrittenEvalCase | string> {
  if (Buffer.byteLength(text) > MAX_LINE_BYTES) return `It has more than ${MAX_LINE_BYTES / 1024} KiB.`
  let value: JsonValue
  try {
    value = parseJson(text)
  } catch (error) {
    return `It is not JSON: ${(error as Error).message}`
  }
  if (!isJsonObject(value)) return 'It is not a JSON object.'
  const wrong = problemOf('evalcase', value, line) ?? problemOf('scenario', scenarioPart(value), line)
  if (wrong !== undefined) return wrong
  const written = fromJson<WrittenEvalCase>(value)
  if (written.input && written.defaults) return '`defaults` stand in a line of their own, without `input`.'
  if (!written.input && !written.defaults) return 'It has no `input`.'
  const inDefaults = written.defaults && problemOf('scenario', scenarioPart(value['defaults'] ?? {}), line)
  if (inDefaults !== undefined) return inDefaults
  for (const check of [...(written.checks ?? []), ...(written.defaults?.checks ?? [])]) {
    const problem = await checkProblem(check)
    if (problem !== undefined) return problem
  }
  return written
}

/** The members that a line shares with a scenario, which are checked as one. */
function scenarioPart(value: JsonValue): JsonObject {
  const { model, tools, decide } = isJsonObject(value) ? value : {}
  return {
    scenario: '-',
    ...(model !== undefined && { model }),
    ...(tools !== undefined && { tools }),
    ...(decide !== undefined && { decide }),
  }
}

/** The first thing that is wrong, in a sentence. */
function problemOf(schema: DocumentSchema, value: JsonObject, line: number): string | undefined {
  // Places are worked out only where they may be needed.
  if (hasShape(schema, value) && value['decide'] === undefined) return undefined
  const source = createSource(`line-${line}.json`, JSON.stringify(value))
  const { roots, findings } = readYaml(source)
  const [root] = roots
  const file = root && createSpans(source, root)
  const all = file ? [...checkShape(schema, file), ...(schema === 'scenario' ? answerFindings(file) : [])] : findings
  return all.find(({ severity }) => severity === 'error')?.message
}

const answerFindings = (file: DocumentSpans): readonly Diagnostic[] =>
  ruleFindings(file, fromJson<Pick<WrittenEvalCase, 'decide'>>(file.root.value as JsonObject).decide ?? [], '/decide')

/** Checks about the calls of one tool, which a condition may narrow. */
const WITH_CONDITION: ReadonlySet<string> = new Set(['calls', 'never_calls', 'never_calls_without_approval'])

async function checkProblem(check: EvalCheck): Promise<string | undefined> {
  const names = CHECK_NAMES.filter((name) => check[name] !== undefined)
  const [name] = names
  if (name === undefined) return `A check says none of ${CHECK_NAMES.join(', ')}.`
  if (names.length > 1) return `A check says one thing, not ${names.join(' and ')}.`
  if (check.where !== undefined) {
    if (!WITH_CONDITION.has(name)) return `\`where\` does not go with \`${name}\`.`
    const [problem] = readCondition(check.where).problems
    if (problem) return `\`where\` of \`${name}\`: ${problem.message}`
  }
  if (check.times !== undefined && name !== 'calls') return `\`times\` does not go with \`${name}\`.`
  if (check.max_cost !== undefined && !readMoney(check.max_cost))
    return '`max_cost` is an amount and a currency: 0.05 USD.'
  if (check.output_schema !== undefined) {
    const problem = await checkForeignSchema(check.output_schema)
    if (problem !== undefined) return `\`output_schema\` is no JSON Schema: ${problem}`
  }
  const { judge } = check
  if (judge && (judge.rubric === undefined) === (judge.rubric_file === undefined))
    return '`judge` has a `rubric` or a `rubric_file`.'
  return undefined
}

async function withDefaults(
  written: Omit<WrittenEvalCase, 'defaults'> & Pick<EvalCase, 'input'>,
  defaults: NonNullable<WrittenEvalCase['defaults']>,
  line: number,
  readRubric: (check: EvalCheck) => Promise<Rubric | string | undefined>,
): Promise<EvalCase | string> {
  const { checks: common = [], tools, ...usual } = defaults
  const checks = [...common, ...(written.checks ?? [])]
  if (checks.length === 0 && written.expected === undefined)
    return 'Nothing is checked: it has neither `expected` nor `checks`.'
  const rubrics = new Map<EvalCheck, Rubric>()
  for (const check of checks) {
    const rubric = await readRubric(check)
    if (typeof rubric === 'string') return rubric
    if (rubric) rubrics.set(check, rubric)
  }
  return {
    ...usual,
    ...written,
    ...((tools ?? written.tools) && { tools: { ...tools, ...written.tools } }),
    name: written.name ?? `line ${line}`,
    line,
    checks,
    rubrics,
  }
}

/**
 * Reads the rubric of a check, each file once. Returns what is wrong with it as text. A rubric is sent to the judge, and a dataset may be
 * of others: it names no file outside its directory and the project.
 */
function createRubricReader(
  directory: string,
  project: string,
): (check: EvalCheck) => Promise<Rubric | string | undefined> {
  const files = new Map<string, Promise<Rubric | string>>()
  const toRubric = (text: string): Rubric => ({ text, digest: digestOf(text) })
  const readFile = async (named: string): Promise<Rubric | string> => {
    try {
      const file = resolve(directory, named)
      if (!(await isWithin(file, [directory, project]))) return `${named} is outside the project.`
      const text = (await readUserFile(file, named, 1)).toString('utf8').trim()
      if (text === '') return `${named} is empty.`
      if (Buffer.byteLength(text) > MAX_RUBRIC_BYTES) return `${named} has more than ${MAX_RUBRIC_BYTES} bytes.`
      return toRubric(text)
    } catch (error) {
      if (isFailure(error)) return error.message
      throw error
    }
  }
  return async (check) => {
    if (nameOfCheck(check) !== 'judge' || !check.judge) return undefined
    const { rubric, rubric_file: file } = check.judge
    if (file === undefined) return toRubric((rubric ?? '').trim())
    const found = files.get(file) ?? readFile(file)
    files.set(file, found)
    return await found
  }
}

/** True for a file below one of the directories, links followed, and for one that cannot be found: to read it says why. */
async function isWithin(file: string, directories: readonly string[]): Promise<boolean> {
  const real = async (path: string): Promise<string | undefined> => await realpath(path).catch(() => undefined)
  const found = await real(file)
  if (found === undefined) return true
  const roots = await Promise.all(directories.map(real))
  return roots.some((root) => {
    const inside = root === undefined ? '..' : relative(root, found)
    return !isAbsolute(inside) && inside.split(sep)[0] !== '..'
  })
}
