/** Whether the app of Slack may do what its channel needs: of the token, its scopes and the signing secret. */
import type { SlackConfig } from '../../../spec/project/config.ts'
import { refusedTry, type ChannelParts } from '../channel.ts'
import { describeMissingScopes, SlackFault, type SlackApi } from './slack-api.ts'

/** What the channel needs beyond what a test message needs. @throws SlackFault */
export async function checkSlackScopes(
  slack: SlackConfig,
  { env }: Pick<ChannelParts, 'env'>,
  api: SlackApi,
  signal: AbortSignal,
): Promise<void> {
  const { token, role, signing_secret: secret } = slack
  if (secret && !env[secret.fromEnv]?.trim())
    throw new SlackFault(
      'no_secret',
      refusedTry(`the environment variable ${secret.fromEnv} of the server has no signing secret, so no click counts`),
    )
  const { scopes } = await api.call('auth.test', {}, signal)
  const needed = [
    'chat:write',
    ...(role === undefined ? [] : ['im:write']),
    ...(role === undefined && !secret ? [] : ['users:read', 'users:read.email']),
  ]
  const missing = needed.filter((each) => !scopes.includes(each))
  if (scopes.length === 0 || missing.length === 0) return
  throw new SlackFault('missing_scope', refusedTry(describeMissingScopes(missing.join(', '), token.fromEnv)))
}
