/** `svc import openapi`: operations of a document as tools. Source: docs/design/command-line.md#imports */
import type { importAnswer, importListAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { planOpenApiImport, selectOperations, type NamedOperation } from '../../../import/import-openapi.ts'
import { checkOpenApiDocument, listOperations } from '../../../import/openapi-document.ts'
import {
  EXIT_AUTHORITY,
  concernsAuthority,
  countActions,
  printLosses,
  printQuestions,
  printImportRows,
} from '../../../import/print-import.ts'
import { readImportSource } from '../../../import/read-source.ts'
import { writeImport } from '../../../import/write-import.ts'
import { loadDocuments } from '../../project/documents.ts'
import { openProject } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

/** More are not written without `--all`: an agent uses at most 40 tools well. */
const MOST_UNASKED = 100
const MOST = 5000

export async function importOpenApi(
  call: CommandContext<ValueOf<typeof importAnswer> | ValueOf<typeof importListAnswer>>,
): Promise<number | void> {
  const { given, mode, out, cwd, signal } = call
  const project = await openProject(call)
  const allowedHosts = project.config.network?.allowed_hosts ?? []
  const source = await readImportSource(given.required(0), { cwd, allowedHosts, signal })
  const document = checkOpenApiDocument(source.value, source.name)
  const selected = selectOperations(document, {
    tags: given.list('tag'),
    paths: given.list('path'),
    operations: given.list('operation'),
  })
  if (given.flag('list')) {
    const all = selectOperations(document, { tags: [], paths: [], operations: [] })
    if (selected.length === 0) call.out.message(`None of ${all.length} operations is selected: ${tagHint(all)}`)
    return await listSelected(selected, call)
  }
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
  const { files, questions } = await writeImport(project, await loadDocuments(project), plan)
  const documents = files.map(({ id, key, path, action }) => ({ tool: id, operation: key, path, action }))
  const { namespace, recordPath, losses } = plan
  const ending = concernsAuthority(losses) ? EXIT_AUTHORITY : 0
  if (mode.json) {
    await out.json({ namespace, record: recordPath, url: plan.url, documents, lost: losses, questions })
    return ending
  }
  out.prose(`${source.name}: ${countActions(documents)} as ${namespace}.*`)
  printLosses(losses, out.line)
  printQuestions(questions, out.line)
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
  printImportRows(
    items.map(({ operation, tool, tags }) => [operation, tool, tags.join(', ')]),
    out.line,
  )
}

function tagHint(selected: readonly NamedOperation[]): string {
  const counts = new Map<string, number>()
  for (const tag of selected.flatMap(({ operation }) => operation.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const tags = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 5)
  const shown = tags.map(([tag, count]) => `--tag ${JSON.stringify(tag)} (${count})`)
  return shown.length === 0 ? "--path '/PART/**' or --operation 'list*'" : shown.join(', ')
}
