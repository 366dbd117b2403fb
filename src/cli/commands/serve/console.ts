/**
 * `svc console`: prints the address that signs a browser in, and lists the browsers that are signed in.
 * Source: docs/design/console.md#signing-in
 */
import { fail } from '../../../base/failure.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { ConsoleSessionView } from '../../../operations/server.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { openBrowser } from '../../dev/open-console.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printList } from '../../shell/screen/list.ts'
import { onlyItem } from '../../../base/values/collections.ts'

type ConsoleAnswer =
  | OperatorAnswer<'POST /console/codes'>
  | OperatorAnswer<'POST /console/sessions/:id/end'>
  | OperatorAnswer<'GET /console/sessions'>
  | OperatorAnswer<'POST /console/sign-out'>
type ConsoleCall = CommandContext<ConsoleAnswer>

export async function printConsoleAddress(call: ConsoleCall): Promise<void> {
  const { given, mode, out } = call
  await withOperator(call, async (operator) => {
    const ending = given.text('end')
    if (ending !== undefined) return await endSession(call, operator, ending)
    const person = given.text('end-all')
    if (person !== undefined) return await endAllSessions(call, operator, person)
    if (given.flag('sessions')) {
      const list = await operator.call('GET /console/sessions', {})
      return await printList(call, list, columns(call.io.clock.now()), 'No browser is signed in.')
    }
    const answer = await operator.call('POST /console/codes', { body: undefined })
    if (mode.json) await out.json(answer)
    else out.line(answer.url)
    out.hint('valid once, for a minute')
    if (given.flag('open')) openBrowser(answer.url)
    return undefined
  })
}

async function endSession({ mode, out }: ConsoleCall, operator: OperatorClient, ending: string): Promise<void> {
  const { items } = await operator.call('GET /console/sessions', {})
  const found = items.filter(({ sessionId }) => sessionId.endsWith(ending.toLowerCase()))
  const only = onlyItem(found)
  if (only === undefined)
    throw found.length === 0
      ? fail('not_found', { what: `session of the console ${ending}` }, { fix: 'svc console --sessions shows them.' })
      : fail('ambiguous_reference', { text: ending, candidates: found.map(({ sessionId }) => sessionId).join(' or ') })
  const session = await operator.call('POST /console/sessions/:id/end', { id: only.sessionId, body: undefined })
  if (mode.json) return await out.json(session)
  out.line(`signed out ${session.operator}`)
}

async function endAllSessions({ mode, out }: ConsoleCall, operator: OperatorClient, person: string): Promise<void> {
  const ended = await operator.call('POST /console/sign-out', { body: { operator: person } })
  if (mode.json) return await out.json(ended)
  out.line(`signed out ${ended.operator} everywhere`)
  out.hint('Credentials of that person stay: svc keys list, svc keys revoke.')
  return undefined
}

const columns = (now: number): readonly TableColumn<ConsoleSessionView>[] => [
  { title: 'SESSION', cell: ({ sessionId }) => shortId(sessionId), plain: ({ sessionId }) => sessionId },
  { title: 'OPERATOR', cell: ({ operator }) => operator },
  { title: 'STATE', cell: ({ endedAt }) => (endedAt === null ? 'signed in' : 'ended') },
  timeColumn('LAST USED', ({ lastUsedAt }) => lastUsedAt, now),
  {
    title: 'BROWSER',
    cell: ({ purpose, browser }) => (purpose === 'command' ? `svc login, ${browser}` : browser),
  },
]
