import { fail } from '../../../base/failure.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { PasskeyView } from '../../../operations/passkeys.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { formatRelative } from '../../../terminal/time.ts'
import { onlyMatch } from '../../project/only-match.ts'
import { listCommand, requestCommand } from '../../project/request-command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'

const columns = (now: number): readonly TableColumn<PasskeyView>[] => [
  { title: 'PASSKEY', cell: ({ passkeyId }) => shortId(passkeyId), plain: ({ passkeyId }) => passkeyId },
  { title: 'PERSON', cell: ({ operator }) => operator },
  { title: 'NAME', cell: ({ name }) => safeText(name) },
  { title: 'KIND', cell: describePasskeyKind },
  timeColumn('ADDED', ({ createdAt }) => createdAt, now),
  timeColumn('LAST USED', ({ lastUsedAt }) => lastUsedAt, now),
]

const describePasskeyKind = ({ isDeviceBound, isBackedUp }: PasskeyView): string => {
  if (isDeviceBound) return 'bound to its device'
  return isBackedUp ? 'copied to an account' : 'may be copied'
}

export const passkeysList = listCommand('GET /passkeys', {
  columns,
  nothing: 'Nobody has a passkey. People add theirs in the console, at Admin, Passkeys.',
})

/** For a device that was lost: who has theirs removes it in the console. */
export const passkeysRemove = requestCommand(
  'POST /passkeys/:id/remove',
  (call) => async (operator) => {
    const {
      passkeyId,
      name,
      operator: person,
      lastUsedAt,
    } = findPasskey(call.given.required(0), (await operator.call('GET /passkeys', {})).items)
    const used = lastUsedAt ? `last used ${formatRelative(Date.parse(lastUsedAt), call.io.clock.now())}` : 'never used'
    const question = `Remove passkey "${safeText(name)}" of ${person} (${used})?`
    return (await confirmLoss(call, question)) ? { id: passkeyId, body: {} } : undefined
  },
  ({ out }, { name, operator }) => out.line(`removed passkey "${safeText(name)}" of ${operator}`),
)

function findPasskey(text: string, passkeys: readonly PasskeyView[]): PasskeyView {
  const ending = text.replaceAll('-', '').toLowerCase()
  const found = passkeys.filter(({ passkeyId }) => passkeyId.replaceAll('-', '').endsWith(ending))
  const missing = () => fail('not_found', { what: `passkey ${text}` }, { fix: 'svc passkeys list shows them.' })
  return onlyMatch(found, text, missing, ({ passkeyId, operator, name }) => `${passkeyId} ("${name}" of ${operator})`)
}
