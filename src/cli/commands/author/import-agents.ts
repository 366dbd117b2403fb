/** `svc import claude` and its like: agents of another format as documents. Source: docs/design/command-line.md#imports */
import { resolve } from 'node:path'
import type { agentImportAnswer, agentImportListAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { AgentFormat } from '../../../import/formats/agent-formats.ts'
import { planAgentImport, selectAgents } from '../../../import/agents/plan-agents.ts'
import { LossList } from '../../../import/losses.ts'
import {
  EXIT_AUTHORITY,
  concernsAuthority,
  printLosses,
  printQuestions,
  printImportRows,
  countActions,
} from '../../../import/print-import.ts'
import { writeImport } from '../../../import/write-import.ts'
import { loadDocuments } from '../../project/documents.ts'
import { openProject } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'

type ImportCall = CommandContext<ValueOf<typeof agentImportAnswer> | ValueOf<typeof agentImportListAnswer>>

export const importAgents =
  (format: AgentFormat) =>
  async (call: ImportCall): Promise<number | void> => {
    const { given, mode, out, cwd } = call
    const project = await openProject(call)
    const name = given.required(0)
    const losses = new LossList()
    const read = await format.load()
    const more = format.more ? given.list(format.more.name).map((each) => resolve(cwd, each)) : []
    const foreign = await read({ path: resolve(cwd, name), name, more, losses })
    const selected = given.list('agent')
    if (given.flag('list')) {
      const items = selectAgents(foreign.agents, { selected, source: name }).map((agent) => ({
        agent: agent.name,
        source: agent.at,
        tools: agent.tools.length,
        purpose: agent.purpose ?? '',
      }))
      if (mode.json) return await out.json({ items, total: items.length })
      return printImportRows(
        items.map(({ agent, source, tools }) => [agent, `${tools} tool${tools === 1 ? '' : 's'}`, source]),
        out.line,
      )
    }
    const plan = planAgentImport({
      project: foreign,
      format: format.name,
      source: name,
      directory: project.directory,
      namespace: given.text('namespace'),
      selected,
      trustAllow: given.flag('trustAllow'),
      losses,
    })
    const { files, questions } = await writeImport(project, await loadDocuments(project), plan)
    const { namespace, recordPath, variables } = plan
    const ending = concernsAuthority(plan.losses) ? EXIT_AUTHORITY : 0
    if (mode.json) {
      const documents = files.map(({ id, key, path, action }) => ({ id, source: key, path, action }))
      await out.json({ namespace, record: recordPath, documents, lost: plan.losses, questions, variables })
      return ending
    }
    out.prose(`${name}: ${countActions(files)} as ${namespace}.*`)
    printLosses(plan.losses, out.line)
    printQuestions(questions, out.line)
    if (variables.length > 0) out.line(`set where the server runs: ${variables.join(', ')}`)
    if (ending !== 0) out.hint('What concerns authority was not carried: look at these agents before one runs.')
    out.hint('next:  svc lint, which names what the source left open')
    return ending
  }
