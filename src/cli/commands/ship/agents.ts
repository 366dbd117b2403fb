import { isJsonObject } from '../../../base/json/json.ts'
import type { PauseView } from '../../../operations/pauses.ts'
import type { AgentView } from '../../../operations/versions.ts'
import { pausesOfAgent } from '../../../spec/steer/pause.ts'
import { describeDeployed } from '../../../view/deployed-version.ts'
import { drawCard } from '../../../terminal/card.ts'
import { fitsTable, timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { safeJson, safeText } from '../../../base/text/escape-text.ts'
import type { CommandContext } from '../../shell/command.ts'
import { contractFields, type ContractField } from '../../runs/contract-fields.ts'
import { timesFor } from '../../runs/held.ts'
import { describePauseEnd } from '../../runs/run-status.ts'
import { exampleObject, quoteShell, startCommandOf } from '../../runs/example-input.ts'
import { answerScreen, printList, printOne, printTable } from '../../shell/screen/list.ts'
import { withOperator } from '../../project/server/operator.ts'
import { resolveAgent, splitVersion } from '../../project/reference.ts'
import type { agentAnswer } from '../../answers/ship.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'

const DEFAULT_URL = 'http://127.0.0.1:4310'

export async function agentsList(call: CommandContext<OperatorAnswer<'GET /agents'>>): Promise<void> {
  await withOperator(call, async (operator) => {
    const { items: pauses } = await operator.call('GET /pauses', { query: {} })
    await printList(
      call,
      await operator.call('GET /agents', { query: { usage: 'true' } }),
      columns(call.io.clock.now(), pauses),
      'No agents. svc publish --deploy makes one.',
    )
  })
}

const columns = (now: number, pauses: readonly PauseView[]): readonly TableColumn<AgentView>[] => [
  { title: 'AGENT', cell: ({ name }) => name },
  {
    title: 'DEPLOYED',
    cell: (agent) => `${deployedOf(agent)}${pausesOf(agent, pauses).length > 0 ? ' (paused)' : ''}`,
    plain: ({ deployed }) => deployed?.versionLabel ?? '-',
  },
  { title: 'TRIGGERS', cell: ({ triggers }) => triggers.join(', ') || '-' },
  { title: 'WAITING', cell: ({ waiting = 0 }) => String(waiting), align: 'right' },
  timeColumn('LAST RUN', ({ lastRunAt }) => lastRunAt, now),
]

const deployedOf = ({ deployed }: AgentView): string => (deployed ? describeDeployed(deployed) : '-')

const pausesOf = ({ name, deployed, tools }: AgentView, pauses: readonly PauseView[]): readonly PauseView[] =>
  pausesOfAgent(pauses, { name, version: deployed?.versionLabel, tools })

/** Prints the input of an agent, its authority and its triggers, with a command to run it and one to call it. */
export async function agentsShow(call: CommandContext<ValueOf<typeof agentAnswer>>): Promise<void> {
  await withOperator(call, async (operator) => {
    const found = await resolveAgent(splitVersion(call.given.required(0)).name, operator)
    const { items } = await operator.call('GET /agents', { query: { usage: 'true' } })
    const agent = items.find(({ agentId }) => agentId === found.agentId) ?? found
    const { items: pauses } = await operator.call('GET /pauses', { query: {} })
    const { url } = await operator.call('GET /status', {})
    const showTime = timesFor(call.io.stdout, call.io.clock)
    const examples = examplesOf(agent, url ?? DEFAULT_URL)
    const contract = isJsonObject(agent.inputContract) ? agent.inputContract : undefined
    // A pipe gets each value on one line; on a terminal the contract is a table, and commands stand unbroken below it.
    const isCard = call.io.stdout.isTTY && !call.mode.json
    await printOne(call, { ...agent, ...examples }, [
      { key: 'agent', value: agent.name },
      { key: 'id', value: agent.agentId },
      { key: 'deployed', value: agent.deployed?.versionLabel ?? 'none' },
      ...pausesOf(agent, pauses).map((pause) => ({ key: 'paused', value: describePauseEnd(pause, showTime) })),
      { key: 'triggers', value: agent.triggers.join(', ') || 'none' },
      { key: 'tools', value: agent.tools.join(', ') || 'none' },
      ...(contract === undefined || !isCard
        ? [{ key: 'input', value: agent.inputContract === undefined ? 'any object' : safeJson(agent.inputContract) }]
        : []),
      { key: 'today', value: `${agent.runsToday} ${agent.runsToday === 1 ? 'run' : 'runs'}, ${agent.waiting} waiting` },
      ...(isCard
        ? []
        : [
            { key: 'run', value: examples.run },
            { key: 'curl', value: examples.curl },
          ]),
    ])
    if (!isCard) return
    const { out } = call
    if (contract !== undefined) {
      out.line('')
      printContract(call, contractFields(contract))
    }
    out.line('')
    out.line(safeText(examples.run))
    out.line('')
    const { items: triggers } = await operator.call('GET /triggers', { query: { agent: agent.agentId } })
    const trigger = triggers.find(({ type }) => type === 'api')
    if (!trigger) out.line(`svc triggers create ${agent.name} --type api`)
    // Names the variable and not the key: a key would stay in the history of the shell.
    const name = quoteShell(trigger?.name ?? 'api')
    out.line(safeText(`export SVC_API_KEY=$(svc keys create --agent ${agent.name} --trigger ${name})`))
    out.line(safeText(examples.curl))
  })
}

const INPUT_COLUMNS: readonly TableColumn<ContractField>[] = [
  { title: 'INPUT', cell: ({ path }) => path },
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'REQUIRED', cell: ({ isRequired }) => (isRequired ? 'yes' : 'no') },
  { title: 'ABOUT', cell: ({ about }) => about },
]

/** A table, or one field below the other where the table has no room for the descriptions. */
function printContract(call: CommandContext<ValueOf<typeof agentAnswer>>, fields: readonly ContractField[]): void {
  const canvas = answerScreen(call)
  if (fitsTable(canvas, INPUT_COLUMNS, fields)) return printTable(call, fields, INPUT_COLUMNS, '')
  const cards = fields.map(({ path, type, isRequired, about }) => ({
    key: path,
    value: [`${type}${isRequired ? ', required' : ''}`, about].filter((part) => part !== '').join('. '),
  }))
  drawCard(canvas, cards).forEach(call.out.line)
}

function examplesOf({ name, agentId, model, inputContract }: AgentView, url: string): { run: string; curl: string } {
  const contract = isJsonObject(inputContract) ? inputContract : undefined
  const body = quoteShell(JSON.stringify({ input: exampleObject(contract) }))
  const headers = '-H "X-API-Key: $SVC_API_KEY" -H "Content-Type: application/json"'
  return {
    run: startCommandOf(name, model, contract),
    curl: `curl ${headers} -d ${body} ${url}/v1/agents/${agentId}/runs`,
  }
}
