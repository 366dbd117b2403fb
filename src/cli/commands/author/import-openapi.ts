/** `svc import openapi`: operations of a document as tools. Source: docs/design/command-line.md#imports */
import type { importAnswer, importListAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { planOpenApiImport, selectOperations, type NamedOperation } from '../../import/import-openapi.ts'
import { checkOpenApiDocument, listOperations } from '../../import/openapi-document.ts'
import { readImportSource } from '../../import/read-source.ts'
import { writeOpenApiImport } from '../../import/write-import.ts'
import { loadDocuments } from '../../project/documents.ts'
import { openProject } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

/** More are not written without `--all`: an agent uses at most 40 tools well. */
const MOST_UNASKED = 100
const MOST = 5000

/** Something that concerns authority was not carried, so that a person has to look. */
const EXIT_AUTHORITY = 3

export async function importOpenApi(
  call: CommandContext<ValueOf<typeof importAnswer> | ValueOf<typeof importListAnswer>>,
): Promise<number | void> {
  const { given, mode, out, cwd, signal } = call
  const project = await openProject(call)
  const allowedHosts = project.config.network?.allowed_hosts ?? []
  const source = await readImportSource(given.argument(0)!, { cwd, allowedHosts, signal })
  const document = checkOpenApiDocument(source.value, source.name)
  const selected = selectOperations(document, {
    tags: given.list('tag'),
    paths: given.list('path'),
    operations: given.list('operation'),
  })
  if (given.flag('list')) return await listSelected(selected, call)
  if (selected.length === 0)
    throw usageFailure(`No operation of ${source.name} is selected.`, `svc import openapi ${source.name} --list`)
  const isTooMany = selected.length > MOST || (selected.length > MOST_UNASKED && !given.flag('all'))
  if (isTooMany)
    throw usageFailure(
      `${selected.length} operations are selected, of ${listOperations(document).length}.`,
      selected.length > MOST
        ? `Select at most ${MOST}: ${tagHint(selected)}`
        : `Select some: ${tagHint(selected)}, or give --all.`,
    )
  const plan = planOpenApiImport({
    document,
    selected,
    source,
    directory: project.directory,
    namespace: given.text('namespace'),
    url: given.text('server'),
    trustClasses: given.flag('trustClasses'),
  })
  const { documents, questions } = await writeOpenApiImport(project, await loadDocuments(project), plan)
  const { namespace, recordPath, losses } = plan
  const ending = losses.some(({ authority }) => authority) ? EXIT_AUTHORITY : 0
  if (mode.json) {
    await out.json({ namespace, record: recordPath, url: plan.url, documents, lost: losses, questions })
    return ending
  }
  out.prose(`${source.name}: ${countActions(documents.map(({ action }) => action))} as ${namespace}.*`)
  printRows(
    'not carried',
    losses.map(({ at, what, authority }) => [authority ? 'authority' : '', at, what]),
    out.line,
  )
  printRows(
    'questions',
    questions.map(({ path, what }) => [path, what]),
    out.line,
  )
  if (ending !== 0) out.hint('What concerns authority was not carried: look at these tools before an agent gets them.')
  out.hint(`next:  svc lint, then bind the tools in an agent: ref: ${documents[0]?.tool ?? `${namespace}.NAME`}@^1.0.0`)
  return ending
}

async function listSelected(
  selected: readonly NamedOperation[],
  { mode, out }: CommandContext<ValueOf<typeof importListAnswer>>,
): Promise<void> {
  const items = selected.map(({ operation: { key, tags, summary }, name }) => ({
    operation: key,
    tool: name,
    tags,
    summary,
  }))
  if (mode.json) return await out.json({ items, total: items.length })
  printRows(
    undefined,
    items.map(({ operation, tool, tags }) => [operation, tool, tags.join(', ')]),
    out.line,
    Infinity,
  )
}

function tagHint(selected: readonly NamedOperation[]): string {
  const counts = new Map<string, number>()
  for (const tag of selected.flatMap(({ operation }) => operation.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const tags = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 5)
  const shown = tags.map(([tag, count]) => `--tag ${JSON.stringify(tag)} (${count})`)
  return shown.length === 0 ? "--path '/PART/**' or --operation 'list*'" : shown.join(', ')
}

function countActions(actions: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const action of actions) counts.set(action, (counts.get(action) ?? 0) + 1)
  return [...counts].map(([action, count]) => `${count} ${action}`).join(', ') || 'nothing written'
}

const MOST_ROWS = 60

/** Aligned columns, of which the last is as long as it is. */
function printRows(
  title: string | undefined,
  rows: readonly (readonly string[])[],
  line: (text: string) => void,
  most = MOST_ROWS,
): void {
  if (rows.length === 0) return
  if (title !== undefined) line(`${title}:`)
  const shown = rows.slice(0, most)
  const widths = shown[0]!.map((_, at) => Math.min(60, Math.max(...shown.map((row) => row[at]!.length))))
  const indent = title === undefined ? '' : '  '
  for (const row of shown)
    line(
      `${indent}${row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at]!))).join('  ')}`.trimEnd(),
    )
  if (rows.length > shown.length) line(`${indent}… ${rows.length - shown.length} more: --json lists all`)
}
