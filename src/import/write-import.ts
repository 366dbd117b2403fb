/** Writes what an import made over what its author made of the last one. Source: docs/design/command-line.md#imports */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Document, isNode, parseAllDocuments, visit, parseDocument } from 'yaml'
import { shortenText } from '../base/text/cut-text.ts'
import { type JsonValue, isJsonObject, type JsonObject } from '../base/json/json.ts'
import { makeDirectory } from '../base/files/make-directory.ts'
import { formatDocuments } from '../documents/fmt/format.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import { statIfAny } from '../base/files/sync-files.ts'
import { writeUserFile } from '../base/files/write-file.ts'
import { CONFIG_FILE } from '../spec/project/config.ts'
import type { ImportPlan, ImportQuestion, PlannedFile, ConfigEntry } from './import-plan.ts'
import { isLooserEdit } from './looser-edit.ts'
import { mergeDocuments } from './merge.ts'

export type ImportAction = 'created' | 'changed' | 'unchanged' | 'kept' | 'removed'

export interface ImportedFile {
  readonly id: string
  readonly key: string
  readonly path: string
  readonly action: ImportAction
}

export interface WrittenImport {
  readonly files: readonly ImportedFile[]
  readonly questions: readonly ImportQuestion[]
}

/** The project that an import writes into. */
interface ImportingProject {
  readonly directory: string
  /** Absent where it has no project file yet. */
  readonly file?: string
}

/** The record is written after the documents: an import that was cut off finds its own documents again, as they are equal. */
export async function writeImport(
  project: ImportingProject,
  workspace: Workspace,
  plan: ImportPlan,
): Promise<WrittenImport> {
  const { directory } = project
  const { files: planned, before, record, recordPath, gone } = plan
  const places = new Map<string, string>(
    workspace.documents.flatMap((each) =>
      each.identity ? [[`${each.kind} ${each.identity.id}`, each.source.path] as const] : [],
    ),
  )
  const questions: ImportQuestion[] = gone.map((key) => ({
    path: recordPath,
    what: `${key} is no longer in the source; what it became stays`,
  }))
  const files: ImportedFile[] = []
  const written = { ...record.written }
  for (const each of planned) {
    const path = places.get(`${each.kind} ${each.id}`) ?? each.path
    const file = join(directory, path)
    const was = before?.written[each.path]
    const done = (action: ImportAction): void => void files.push({ id: each.id, key: each.key, path, action })
    if (statIfAny(file)) {
      const merged = mergeFile(readFileSync(file, 'utf8'), was, each)
      questions.push(...merged.questions.map((what) => ({ path, what })))
      // What no import wrote is no base of the next one.
      if (merged.action === 'kept' && was === undefined) delete written[each.path]
      if (merged.text !== undefined) await writeUserFile(file, merged.text)
      done(merged.action)
    } else if (was !== undefined) done('removed')
    else {
      makeDirectory(dirname(file), 0o777)
      await writeUserFile(file, printFile(path, each, plan.source))
      done('created')
    }
  }
  makeDirectory(dirname(join(directory, recordPath)), 0o777)
  await writeUserFile(join(directory, recordPath), `${JSON.stringify({ ...record, written }, null, 1)}\n`)
  questions.push(...(await writeConfigEntries(project, plan.config)))
  return { files, questions }
}

interface MergedFile {
  readonly action: 'changed' | 'unchanged' | 'kept'
  /** Undefined where nothing is written. */
  readonly text?: string
  readonly questions: readonly string[]
}

const NOT_IMPORTED = 'was not written by an import, and is left as it is'

function mergeFile(text: string, was: JsonValue | undefined, { content }: PlannedFile): MergedFile {
  if (typeof content === 'string') return mergeText(text, was, content)
  const [parsed, ...others] = parseAllDocuments(text)
  if (!parsed || !('errors' in parsed) || parsed.errors.length > 0 || others.length > 0)
    return { action: 'kept', questions: ['is not one readable document, and is left as it is'] }
  const author = parsed.toJS() as JsonValue
  const { edits, conflicts } = mergeDocuments(was, author, content)
  if (was === undefined && edits.length + conflicts.length > 0) return { action: 'kept', questions: [NOT_IMPORTED] }
  // What an alias repeats stands at several places: an edit of one would change the others.
  const isShared = hasAlias(parsed)
  const [applied, looser] = divide(edits, (edit) => !isShared && !isLooserEdit(edit, author))
  const questions = [...conflicts, ...looser].map(
    ({ path: place, value }) => `${place.join('.')}: the source says ${summarize(value)}; yours stays`,
  )
  for (const { path: place, value } of applied) {
    if (value === undefined) parsed.deleteIn(place)
    else parsed.setIn(place, parsed.createNode(value))
  }
  if (applied.length === 0) return { action: 'unchanged', questions }
  return { action: 'changed', text: parsed.toString({ lineWidth: 0, flowCollectionPadding: true }), questions }
}

/** A text is merged as one value. */
function mergeText(text: string, was: JsonValue | undefined, content: string): MergedFile {
  if (text === content || was === content) return { action: 'unchanged', questions: [] }
  if (was === undefined) return { action: 'kept', questions: [NOT_IMPORTED] }
  if (was === text) return { action: 'changed', text: content, questions: [] }
  return { action: 'unchanged', questions: ['you and the source changed this text; yours stays'] }
}

function hasAlias(document: Document): boolean {
  let found = false
  visit(document, {
    Alias: () => {
      found = true
      return visit.BREAK
    },
  })
  return found
}

function divide<T>(items: readonly T[], belongs: (item: T) => boolean): readonly [T[], T[]] {
  return [items.filter(belongs), items.filter((each) => !belongs(each))]
}

const summarize = (value: JsonValue | undefined): string => {
  if (value === undefined) return 'that it is gone'
  return shortenText(JSON.stringify(value), 80)
}

/** How a comment begins that asks what the source left open. `import/open-question` names each. */
const QUESTION = ' TODO(import): '

function printFile(path: string, { content, questions = [] }: PlannedFile, source: string): string {
  if (typeof content === 'string') return content
  const made = new Document(content) as Document
  made.commentBefore = ` Imported from ${shortenText(source.replace(/[^\x20-\x7e]/g, '?'), 200)}. Its texts are the source's: read them before an agent does.`
  for (const { at, what } of questions) askBefore(made, at, `${QUESTION}${what}`)
  const text = made.toString({ lineWidth: 0 })
  const formatted = formatDocuments({ path, text })
  return 'text' in formatted ? formatted.text : text
}

/** Puts a comment before a member of a mapping. */
function askBefore(document: Document, at: readonly (string | number)[], comment: string): void {
  const node = document.getIn(at, true)
  visit(document, {
    Pair: (_, pair) => {
      if (pair.value !== node) return undefined
      if (isNode(pair.key)) pair.key.commentBefore = comment
      return visit.BREAK
    },
  })
}

async function writeConfigEntries(
  project: ImportingProject,
  entries: readonly ConfigEntry[],
): Promise<readonly ImportQuestion[]> {
  if (entries.length === 0) return []
  const file = project.file ?? join(project.directory, CONFIG_FILE)
  const text = project.file === undefined ? '' : readFileSync(file, 'utf8')
  const document = parseDocument(text)
  const questions: ImportQuestion[] = []
  const ask = (what: string): void => void questions.push({ path: CONFIG_FILE, what })
  for (const { at, value, owner, compared } of entries) {
    const found = valueIn((document.toJS() ?? {}) as JsonValue, at)
    if (found === undefined) {
      document.setIn(at, document.createNode(value))
      continue
    }
    if (owner !== undefined && !(isJsonObject(found) && isJsonObject(found[owner]))) {
      ask(`${at.join('.')} is another route; the imported tools need \`${owner}\``)
      continue
    }
    for (const place of compared) {
      const theirs = valueIn(value, place)
      if (JSON.stringify(valueIn(found, place)) !== JSON.stringify(theirs))
        ask(`${[...at, ...place].join('.')}: the source says ${shown(theirs)}; yours stays`)
    }
    for (const [place, missing] of missingIn(found, value))
      if (!compared.some((each) => each.join('\n') === place.join('\n')))
        document.setIn([...at, ...place], document.createNode(missing))
  }
  const after = document.toString({ lineWidth: 0, flowCollectionPadding: false })
  if (after !== text) await writeUserFile(file, after)
  return questions
}

const shown = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : shortenText(JSON.stringify(value) ?? 'nothing', 80)

const valueIn = (value: JsonValue, at: readonly string[]): JsonValue | undefined =>
  at.reduce<JsonValue | undefined>(
    (here, key) => (isJsonObject(here) && Object.hasOwn(here, key) ? here[key] : undefined),
    value,
  )

/** Members that only the source has, with their places. */
function missingIn(found: JsonValue, value: JsonObject): readonly (readonly [string[], JsonValue])[] {
  if (!isJsonObject(found)) return []
  return Object.entries(value).flatMap(([key, each]): (readonly [string[], JsonValue])[] => {
    if (!Object.hasOwn(found, key)) return [[[key], each]]
    return isJsonObject(each) ? missingIn(found[key]!, each).map(([place, missing]) => [[key, ...place], missing]) : []
  })
}
