/** Adds to the project file what imported documents need there. What the author wrote stays. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { shortenText } from '../../base/cut-text.ts'
import { writeUserFile } from '../files/write-file.ts'
import { CONFIG_FILE, type Project } from '../project/project.ts'
import type { ConfigEntry, ImportQuestion } from './import-plan.ts'

export async function writeConfigEntries(
  project: Project,
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
