/** Writes what an import made over what its author made of the last one. Source: docs/design/command-line.md#imports */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Document, parseAllDocuments, parseDocument, visit } from 'yaml'
import { shortenText } from '../../base/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { formatDocuments } from '../../documents/fmt/format.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { statIfAny } from '../files/sync-files.ts'
import { writeUserFile } from '../files/write-file.ts'
import { CONFIG_FILE, type Project } from '../project/project.ts'
import type { OpenApiImport } from './import-openapi.ts'
import { mergeDocuments, type DocumentEdit } from './merge.ts'
import { strictnessOf } from './openapi-tool.ts'

export type ImportAction = 'created' | 'changed' | 'unchanged' | 'kept' | 'removed'

export interface ImportedDocument {
  readonly tool: string
  readonly operation: string
  readonly path: string
  readonly action: ImportAction
}

/** What a person has to decide. */
export interface ImportQuestion {
  readonly path: string
  readonly what: string
}

export interface WrittenImport {
  readonly documents: readonly ImportedDocument[]
  readonly questions: readonly ImportQuestion[]
}

/** The record is written after the documents: an import that was cut off finds its own documents again, as they are equal. */
export async function writeOpenApiImport(
  project: Project,
  workspace: Workspace,
  plan: OpenApiImport,
): Promise<WrittenImport> {
  const { directory } = project
  const { tools, before, record, recordPath, gone } = plan
  const places = new Map(
    workspace.documents.flatMap((each) =>
      each.kind === 'Tool' && each.identity ? [[each.identity.id, each.source.path] as const] : [],
    ),
  )
  const questions: ImportQuestion[] = gone.map((key) => ({
    path: recordPath,
    what: `${key} is no longer in the source; its tool stays`,
  }))
  const documents: ImportedDocument[] = []
  for (const { id, key, path: usual, document } of tools) {
    const path = places.get(id) ?? usual
    const file = join(directory, path)
    const was = before?.written[usual]
    const ask = (what: string): void => void questions.push({ path, what })
    const done = (action: ImportAction): void => void documents.push({ tool: id, operation: key, path, action })
    if (!statIfAny(file)) {
      if (was !== undefined) done('removed')
      else {
        makeDirectory(dirname(file), 0o777)
        await writeUserFile(file, printDocument(path, document, record.source))
        done('created')
      }
      continue
    }
    const text = readFileSync(file, 'utf8')
    const [parsed, ...others] = parseAllDocuments(text)
    if (!parsed || !('errors' in parsed) || parsed.errors.length > 0 || others.length > 0) {
      ask('is not one readable document, and is left as it is')
      done('kept')
      continue
    }
    const author = parsed.toJS() as JsonValue
    const { edits, conflicts } = mergeDocuments(was, author, document)
    if (was === undefined && edits.length + conflicts.length > 0) {
      ask('was not written by an import, and is left as it is')
      done('kept')
      continue
    }
    // What an alias repeats stands at several places: an edit of one would change the others.
    const isShared = hasAlias(parsed)
    const [applied, looser] = divide(edits, (edit) => !isShared && !isLooser(edit, author))
    for (const { path: place, value } of [...conflicts, ...looser])
      ask(`${place.join('.')}: the source says ${summarize(value)}; yours stays`)
    for (const { path: place, value } of applied) {
      if (value === undefined) parsed.deleteIn(place)
      else parsed.setIn(place, parsed.createNode(value))
    }
    if (applied.length > 0) await writeUserFile(file, parsed.toString({ lineWidth: 0, flowCollectionPadding: true }))
    done(applied.length > 0 ? 'changed' : 'unchanged')
  }
  makeDirectory(dirname(join(directory, recordPath)), 0o777)
  await writeUserFile(join(directory, recordPath), `${JSON.stringify(record, null, 1)}\n`)
  questions.push(...(await writeRoute(project, plan)))
  return { documents, questions }
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

/** A class that the source loosened: a call would be made again, or without approval, because a foreign document says so. */
function isLooser({ path, value }: DocumentEdit, author: JsonValue): boolean {
  if (path.join('.') !== 'spec.side_effect_class') return false
  const spec = isJsonObject(author) && isJsonObject(author['spec']) ? author['spec'] : {}
  return strictnessOf(value) < strictnessOf(spec['side_effect_class'])
}

const summarize = (value: JsonValue | undefined): string => {
  if (value === undefined) return 'that it is gone'
  return shortenText(JSON.stringify(value), 80)
}

function printDocument(path: string, document: JsonObject, source: string): string {
  const made = new Document(document)
  made.commentBefore = ` Imported from ${shortenText(source.replace(/[^\x20-\x7e]/g, '?'), 200)}. Its texts are the source's: read them before an agent does.`
  const text = made.toString({ lineWidth: 0 })
  const formatted = formatDocuments({ path, text })
  return 'text' in formatted ? formatted.text : text
}

/** Names the record in the project file. What the author wrote there stays. */
async function writeRoute(project: Project, plan: OpenApiImport): Promise<readonly ImportQuestion[]> {
  const { namespace, url, recordPath, record } = plan
  const file = project.file ?? join(project.directory, CONFIG_FILE)
  const text = project.file === undefined ? '' : readFileSync(file, 'utf8')
  const document = parseDocument(text)
  const place = ['tools', `${namespace}.*`]
  const questions: ImportQuestion[] = []
  const found =
    document.getIn(place, false) === undefined ? undefined : (document.toJS() as ConfigTools).tools?.[place[1]!]
  const used = new Set(Object.values(record.operations).flatMap(({ security = [] }) => security.flat()))
  const names = Object.keys(record.securitySchemes).filter((name) => used.has(name))
  if (found === undefined) {
    const security = Object.fromEntries(names.map((name) => [name, { fromEnv: variableOf(namespace, name) }]))
    const openapi = { url, record: recordPath, ...(names.length > 0 && { security }) }
    document.setIn(place, document.createNode({ openapi }))
  } else if (!isJsonObject(found['openapi'])) {
    return [{ path: CONFIG_FILE, what: `tools.${place[1]} is another route; the imported tools need \`openapi\`` }]
  } else {
    const { url: own, security } = found['openapi']
    if (own !== url)
      questions.push({ path: CONFIG_FILE, what: `tools.${place[1]}.openapi.url: the source says ${url}; yours stays` })
    for (const name of names)
      if (!isJsonObject(security) || !Object.hasOwn(security, name))
        document.setIn(
          [...place, 'openapi', 'security', name],
          document.createNode({ fromEnv: variableOf(namespace, name) }),
        )
  }
  const after = document.toString({ lineWidth: 0, flowCollectionPadding: false })
  if (after !== text) await writeUserFile(file, after)
  return questions
}

interface ConfigTools {
  readonly tools?: Readonly<Record<string, JsonObject>>
}

/** The source chooses both names, and where the secret is sent: without the prefix, `OpenAI` and `apiKey` would take a key that is set. */
const variableOf = (namespace: string, scheme: string): string =>
  `openapi_${namespace}_${scheme}`
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()
