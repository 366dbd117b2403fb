import { fail } from '../../../base/failure.ts'
import { isUuid } from '../../../base/ids.ts'
import type { KeyView, OperatorKeyView } from '../../../operations/keys.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { shortId } from '../../../base/text/short-text.ts'
import { formatRelative } from '../../../terminal/time.ts'
import type { CommandContext } from '../../shell/command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { durationMs } from '../../shell/numbers.ts'
import { withOperator, withOperatorOf } from '../../project/server/operator.ts'
import { agentOption, listCommand, requestCommand } from '../../project/request-command.ts'
import { openProject } from '../../project/project.ts'
import { resolveAgent } from '../../project/reference.ts'
import type { createdKeyAnswer } from '../../answers/ship.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { onlyMatch } from '../../project/only-match.ts'

type AnyKey = KeyView | OperatorKeyView

const columns = (now: number, keys: readonly AnyKey[]): readonly TableColumn<AnyKey>[] => [
  { title: 'KEY', cell: ({ keyId }) => shortId(keyId), plain: ({ keyId }) => keyId },
  { title: 'PREFIX', cell: ({ prefix }) => `${prefix}…`, plain: ({ prefix }) => prefix },
  { title: 'NAME', cell: ({ name }) => name ?? '' },
  { title: 'AGENT', cell: (key) => ('email' in key ? '' : key.agent) },
  { title: 'TRIGGER', cell: (key) => ('email' in key ? '' : key.trigger) },
  { title: 'UPLOADS', cell: (key) => ('email' in key ? '' : yesOrNo(key.allowUploads)) },
  ...(keys.some((key) => 'email' in key) ? [OPERATOR] : []),
  { title: 'STATE', cell: (key) => stateOf(key, now) },
  timeColumn('LAST USED', ({ lastUsedAt }) => lastUsedAt, now),
]

const OPERATOR: TableColumn<AnyKey> = { title: 'OPERATOR', cell: (key) => ('email' in key ? personOf(key) : '') }

const personOf = ({ email, roles }: OperatorKeyView): string =>
  roles.length === 0 ? email : `${email} (${roles.join(', ')})`

const yesOrNo = (allowed: boolean | undefined): string => (allowed ? 'yes' : 'no')

function stateOf({ revokedAt, expiresAt }: AnyKey, now: number): string {
  if (revokedAt) return 'revoked'
  return expiresAt && Date.parse(expiresAt) <= now ? 'expired' : 'valid'
}

export const keysList = listCommand('GET /keys', {
  ask: (call) => async (operator) => ({
    query: { ...(await agentOption(call, operator)), ...(call.given.flag('all') && { all: 'true' }) },
  }),
  columns,
  nothing: 'No keys. svc keys create makes one.',
})

/** The secret is all that stdout gets, so that `svc keys create … > .env.key` works. */
export async function keysCreate(call: CommandContext<ValueOf<typeof createdKeyAnswer>>): Promise<void> {
  const { given, mode, out } = call
  if (given.flag('operator')) return await createForPerson(call)
  if (given.text('email') !== undefined || given.list('role').length > 0)
    throw usageFailure('--email and --role are for operator credentials.', FOR_PERSON)
  const [agent, trigger] = [given.text('agent'), given.text('trigger')]
  if (agent === undefined || trigger === undefined)
    throw usageFailure(
      'A key is for one agent and one of its API triggers.',
      `svc keys create --agent AGENT --trigger TRIGGER   or   ${FOR_PERSON}`,
    )
  const expiresMs = durationMs(given.text('expires'), 'expires')
  const name = given.text('name')
  const project = await openProject(call)
  await withOperatorOf(project, call, async (operator) => {
    const key = await operator.call('POST /keys', {
      body: {
        agent: (await resolveAgent(agent, operator)).agentId,
        trigger,
        allowUploads: given.flag('allow-uploads'),
        ...(name !== undefined && { name }),
        ...(expiresMs !== undefined && { expiresInSeconds: Math.ceil(expiresMs / 1000) }),
      },
    })
    if (mode.json) return await out.json(key)
    const uploads = key.allowUploads ? ', uploads allowed' : ''
    out.message(`key ${shortId(key.keyId)} for ${key.agent} / ${key.trigger}${uploads}. Shown once:`)
    out.line(key.secret)
  })
}

const FOR_PERSON = 'svc keys create --operator --email EMAIL'

/** A person's credential on the operator channel. */
async function createForPerson(call: CommandContext<ValueOf<typeof createdKeyAnswer>>): Promise<void> {
  const { given, mode, out } = call
  const [email, name] = [given.text('email'), given.text('name')]
  if (given.text('agent') !== undefined || given.text('trigger') !== undefined || given.flag('allow-uploads'))
    throw usageFailure('An operator credential is for a person, not for an agent and its trigger.', FOR_PERSON)
  if (email === undefined) throw usageFailure('An operator credential is for one person.', FOR_PERSON)
  const expiresMs = durationMs(given.text('expires'), 'expires')
  await withOperator(call, async (operator) => {
    const key = await operator.call('POST /operator-keys', {
      body: {
        email,
        roles: given.list('role'),
        ...(name !== undefined && { name }),
        ...(expiresMs !== undefined && { expiresInSeconds: Math.ceil(expiresMs / 1000) }),
      },
    })
    if (mode.json) return await out.json(key)
    out.message(`operator credential ${shortId(key.keyId)} for ${personOf(key)}. Shown once:`)
    out.line(key.secret)
  })
}

export const keysRevoke = requestCommand(
  'POST /keys/:id/revoke',
  (call) => async (operator) => {
    const key = find(call.given.required(0), (await operator.call('GET /keys', {})).items)
    const used = key.lastUsedAt
      ? `last used ${formatRelative(Date.parse(key.lastUsedAt), call.io.clock.now())}`
      : 'never used'
    const whose = 'email' in key ? key.email : `${key.agent} / ${key.trigger}`
    return (await confirmLoss(call, `Revoke key ${key.prefix}… of ${whose} (${used})?`)) ? { id: key.keyId } : undefined
  },
  ({ out }, { prefix }) => out.line(`revoked ${prefix}…`),
)

function find(text: string, keys: readonly AnyKey[]): AnyKey {
  const found = isUuid(text)
    ? keys.filter((each) => each.keyId === text.toLowerCase())
    : keys.filter(
        (each) =>
          each.keyId.endsWith(text.toLowerCase()) ||
          (text.startsWith('svc_') && each.prefix.startsWith(text.replace(/…$/, ''))),
      )
  const missing = () => fail('not_found', { what: `key ${text}` }, { fix: 'svc keys list shows them.' })
  return onlyMatch(found, text, missing, ({ keyId, prefix }) => `${keyId} (${prefix}…)`)
}
