import { fail } from '../../../base/failure.ts'
import { ruleExamples } from '../../../documents/generated/rule-examples.js'
import { rules } from '../../../documents/rules/index.ts'
import type { CommandContext } from '../../shell/command.ts'
import { HOLD_TEXTS, type RunHold } from '../../../spec/run/hold.ts'
import { exitCodes } from '../../shell/exit-codes.ts'
import { openProject } from '../../project/project.ts'
import { reachedHosts, type ReachedHost } from '../../project/reached-hosts.ts'
import { printList } from '../../shell/screen/list.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { documentTermPage, documentTerms } from './document-terms.ts'
import { suggestWord } from '../../../base/text/nearest-word.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import type { explainAnswer, reachedHostsAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { ownMember } from '../../../base/json/own-member.ts'

type ExplainAnswer = ValueOf<typeof explainAnswer> | ValueOf<typeof reachedHostsAnswer>

export async function explain(call: CommandContext<ExplainAnswer>): Promise<void> {
  const { given, mode, out } = call
  const term = given.argument(0)
  if (given.flag('egress')) {
    if (term !== undefined)
      throw usageFailure('--egress is about the whole project: leave out the term.', 'svc explain --egress')
    const items = await reachedHosts(await openProject(call), call.io.env)
    return await printList(
      call,
      { items, total: items.length },
      HOST_COLUMNS,
      'A server of this project contacts no other host.',
    )
  }
  if (term === undefined) throw usageFailure('Name what to explain.', 'svc explain tool/unresolved')
  const page = ruleOf(term) ?? statusOf(term) ?? holdOf(term) ?? exitOf(term) ?? (await documentTermPage(term))
  if (!page) {
    const terms = [
      ...rules.map(({ name }) => name),
      ...Object.keys(STATUSES),
      ...Object.keys(HOLD_TEXTS),
      ...documentTerms,
    ]
    const about =
      'Rules, kinds, fields, operators, classes, decisions, tasks, statuses of runs, reasons of a hold and exit codes have pages.'
    const fix = suggestWord(term, terms, about, (word) => `svc explain ${word}`)
    throw fail('not_found', { what: `page "${term}"` }, { fix })
  }
  if (mode.json) return await out.json({ term, ...page })
  if (page.kind === 'rule') out.line(page.text)
  else out.prose(page.text)
}

const HOST_COLUMNS: readonly TableColumn<ReachedHost>[] = [
  { title: 'HOST', cell: ({ host }) => host },
  { title: 'PORT', cell: ({ port }) => String(port) },
  { title: 'FOR', cell: (each) => each.for.join(', ') },
]

interface ExplainPage {
  readonly kind: 'rule' | 'status' | 'hold' | 'exit'
  readonly text: string
}

const indented = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))

function ruleOf(term: string): ExplainPage | undefined {
  const rule = rules.find(({ name }) => name === term)
  const examples = ownMember(ruleExamples, term)
  if (!rule || !examples) return undefined
  const { bad, good, output } = examples
  const show = (files: Readonly<Record<string, string>>): string[] =>
    Object.entries(files).flatMap(([path, text]) => [`    # ${path}`, ...indented(text)])
  const lines = [
    `${rule.name} (${rule.severity}${rule.essential ? ', always' : ''})  ${rule.law}`,
    ...(rule.reason === undefined ? [] : [`  ${rule.reason}`]),
    ...(rule.source === undefined ? [] : [`  Source: ${rule.source}`]),
    '',
    '  Bad',
    ...show(bad),
    '',
    '  svc lint prints',
    ...indented(output),
    '',
    '  Good',
    ...show(good),
    '',
    `  Fix     ${rule.fix}`,
  ]
  return { kind: 'rule', text: lines.join('\n') }
}

/** Source: docs/design/runs-and-recovery.md#states-and-statuses */
const STATUSES: Readonly<Record<string, string>> = {
  Running: 'The run works: a model answers or tools are called.',
  WaitingForHITL: 'The run, or a sub-agent run of it, waits for a person: svc inbox shows the task.',
  WaitingForAITL: "A sub-agent run waits for its parent's model.",
  WaitingForResponse: 'The run waits for a reply: svc send RUN TEXT.',
  Completed: 'The run has ended with an output.',
  Failed: 'The run has ended with an error.',
  Cancelled: 'The run was cancelled; so were its sub-agent runs.',
}

const statusOf = (term: string): ExplainPage | undefined =>
  Object.hasOwn(STATUSES, term) ? { kind: 'status', text: `${term}  ${STATUSES[term]}` } : undefined

const holdOf = (term: string): ExplainPage | undefined =>
  Object.hasOwn(HOLD_TEXTS, term)
    ? {
        kind: 'hold',
        text: `${term} (reason of a hold)  The run is Running and does nothing for now: ${HOLD_TEXTS[term as RunHold['reason']]}.`,
      }
    : undefined

function exitOf(term: string): ExplainPage | undefined {
  const code = exitCodes[Number(term)]
  return code && { kind: 'exit', text: `${term}  ${code.meaning}${code.typical ? `: ${code.typical}` : ''}` }
}
